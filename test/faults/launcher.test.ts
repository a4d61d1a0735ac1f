import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { MAIN } from '../support/process.ts'

const LAUNCHER = fileURLToPath(new URL('../../scripts/mailplane.mjs', import.meta.url))

describe('npm run mailplane with an older Node (N2)', () => {
  const launch = (version: string) => {
    const versions = `{ ...process.versions, node: '${version}' }`
    const pretend = `Object.defineProperty(process, 'versions', { value: ${versions} })`
    const preload = `data:text/javascript,${encodeURIComponent(pretend)}`
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', preload, LAUNCHER, 'serve', '--list-services'],
      { encoding: 'utf8' },
    )
    return { status, stdout, stderr }
  }

  it('runs on the Node of the packages when the other is the Node 18 of Debian 12', () => {
    expect(launch('18.20.4')).toEqual({
      status: 0,
      stdout: expect.stringContaining('api\t8080\n'),
      stderr: '',
    })
  })

  it('names the command that installs one that can install the packages', () => {
    expect(launch('16.20.2')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'mailplane: Node 18 or newer is needed, this is 16.20.2; on Debian: apt install nodejs npm\n',
    })
  })
})

it('mailplane openapi ends without a complaint when its reader has read enough (N15)', () => {
  const command = `"${process.execPath}" "${MAIN}" openapi | head -c 1`
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '{', stderr: '' })
})
