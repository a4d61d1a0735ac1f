import { readFileSync } from 'node:fs'
import { StartupError } from '../startup-error.ts'

/** Returns the user id and group id of a system user that a package created. */
export function accountOf(user: string): { uid: number; gid: number } {
  const [, , uid, gid] = entry('/etc/passwd', user)
  return { uid: Number(uid), gid: Number(gid) }
}

export const groupOf = (name: string): number => Number(entry('/etc/group', name)[2])

function entry(file: string, name: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  const line = lines.find((line) => line.startsWith(`${name}:`))
  if (line === undefined) {
    throw new StartupError(`${file} has no ${name}; install the packages of the mail servers again`)
  }
  return line.split(':')
}
