// The faults lane runs the server as operators do, from dist/, on data folders that are copied from these.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare } from '../../scripts/prepare.mjs'

export default async function setup(project) {
  await prepare()
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-installations-'))
  project.provide('installations', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
