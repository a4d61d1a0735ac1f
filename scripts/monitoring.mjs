// Writes the rules of Prometheus and the dashboards of Grafana under deploy/ from the metrics that the
// services declare; `--check` only compares.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dashboardsOf } from './monitoring/dashboards.mjs'
import { declaredMetrics } from './monitoring/declared.mjs'
import { rulesOf } from './monitoring/rules.mjs'
import { root } from './prepare.mjs'

const metrics = await declaredMetrics()
const rules = rulesOf(metrics)
const files = new Map([
  ['deploy/prometheus/rules.yaml', rules],
  // A chart reads no file outside its folder.
  ['deploy/helm/mailplane/files/rules.yaml', rules],
  ...Object.entries(dashboardsOf(metrics)).map(([name, content]) => [
    `deploy/grafana/dashboards/${name}`,
    `${JSON.stringify(content, null, 2)}\n`,
  ]),
])
for (const [file, text] of files) {
  const path = join(root, file)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`${file} differs from the declared metrics; run npm run monitoring\n`)
    process.exitCode = 1
  }
}
