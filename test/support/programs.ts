import { type SpawnSyncOptions, spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const isInstalled = (program: string): boolean =>
  `${process.env.PATH}${delimiter}/usr/sbin`.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** The reason to skip a test that runs these programs; undefined when all are there. */
export function missingProgram(...programs: string[]): string | undefined {
  const missing = programs.find((program) => !isInstalled(program))
  return missing === undefined ? undefined : `${missing} is not installed`
}

/** The end of a title: it names the reason when the test is skipped. */
export const skipped = (reason: string | undefined): string =>
  reason === undefined ? '' : ` (skipped: ${reason})`

/** Runs a program to its end; a status other than 0 fails the test with its whole output. */
export function runProgram(
  program: string,
  args: string[],
  options: SpawnSyncOptions = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    maxBuffer: 100_000_000,
    ...options,
    encoding: 'utf8',
  })
  if (error) throw error
  if (status !== 0) {
    throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  }
  return stdout
}
