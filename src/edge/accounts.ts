import { readFileSync } from 'node:fs'
import { StartupError } from '../startup-error.ts'

/** The numbers of a user and its group that a package has made. */
export function accountOf(user: string): { uid: number; gid: number } {
  const [, , uid, gid] = entry('/etc/passwd', user)
  return { uid: Number(uid), gid: Number(gid) }
}

export const groupOf = (name: string): number => Number(entry('/etc/group', name)[2])

function entry(file: string, name: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  const found = lines.find((line) => line.startsWith(`${name}:`))
  if (found === undefined) {
    throw new StartupError(`${file} has no ${name}; install the packages of the mail servers again`)
  }
  return found.split(':')
}
