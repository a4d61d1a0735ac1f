// Writes openapi/v1.json and openapi/routes.txt from the routes; `--check` only compares. The baseline is
// what clients were last promised: it moves along with every change that breaks no promise.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { breakingChanges } from '../src/openapi/breaking.ts'
import { openApiDocument } from '../src/openapi/document.ts'
import { describeRoutes } from '../src/openapi/generate.ts'
import { routeList } from '../src/openapi/route-list.ts'
import { root } from './prepare.mjs'

const files = {
  document: join(root, 'openapi', 'v1.json'),
  routes: join(root, 'openapi', 'routes.txt'),
  baseline: join(root, 'openapi', 'baseline.json'),
}
const routes = await describeRoutes()
const document = openApiDocument(routes)
const text = `${JSON.stringify(document, null, 2)}\n`
const list = routeList(routes)
const baseline = existsSync(files.baseline)
  ? JSON.parse(readFileSync(files.baseline, 'utf8'))
  : undefined
const broken = baseline ? breakingChanges(baseline, document) : []

if (process.argv.includes('--check')) {
  const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  if (read(files.document) !== text || read(files.routes) !== list) {
    process.stderr.write(
      'openapi/ differs from the routes; run npm run openapi and read the diff\n',
    )
    process.exitCode = 1
  }
} else {
  writeFileSync(files.document, text)
  writeFileSync(files.routes, list)
  if (broken.length === 0) writeFileSync(files.baseline, text)
}
for (const change of broken) process.stderr.write(`breaks a promise of /api/v1: ${change}\n`)
if (broken.length > 0) process.exitCode = 1
