import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ROOT } from '../support/documentation.ts'
import { cleanUp, temporaryFolder } from '../support/process.ts'
import { missingProgram, runProgram, skipped } from '../support/programs.ts'

afterAll(cleanUp)

const FOLDER = join(ROOT, 'deploy', 'prometheus')
const noPromtool = missingProgram('promtool')
const noCaddy = missingProgram('caddy')

it.skipIf(noPromtool)(
  `promtool accepts the rules and passes their tests${skipped(noPromtool)}`,
  () => {
    expect(runProgram('promtool', ['check', 'rules', join(FOLDER, 'rules.yaml')])).toContain(
      'SUCCESS',
    )
    expect(runProgram('promtool', ['test', 'rules', join(FOLDER, 'rules.test.yaml')])).toContain(
      'SUCCESS',
    )
  },
)

it.skipIf(noPromtool)(`promtool accepts the configuration of compose${skipped(noPromtool)}`, () => {
  const folder = temporaryFolder()
  cpSync(join(FOLDER, 'rules.yaml'), join(folder, 'rules.yaml'))
  const text = readFileSync(join(FOLDER, 'prometheus.yaml'), 'utf8')
  writeFileSync(join(folder, 'prometheus.yaml'), text.replace('/etc/prometheus/', ''))
  const report = runProgram('promtool', ['check', 'config', join(folder, 'prometheus.yaml')])
  expect(report).toContain('is valid prometheus config')
})

it.skipIf(noCaddy)(`Caddy accepts the Caddyfile of compose${skipped(noCaddy)}`, () => {
  const file = join(ROOT, 'deploy', 'caddy', 'Caddyfile')
  const home = temporaryFolder()
  const env = { PATH: process.env.PATH, HOME: home, MAIL_HOSTNAME: 'mail.example.com' }
  const args = ['validate', '--adapter', 'caddyfile', '--config', file]
  expect(runProgram('caddy', args, { env })).toContain('Valid configuration')
})
