import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { QueueAway } from './mail-queue.ts'

// Not the caller's: these programs run as root, and which ones they are is not for anybody to choose.
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const MAX_COMPLAINT = 4096

export type Program = ChildProcessByStdio<null, Readable, Readable>

export interface Running {
  program: Program
  /** What it wrote to standard error, and its exit status; settles once it is gone. */
  ended: Promise<{ status: number | null; complaint: string; isLate: boolean }>
}

/** Starts a program of Postfix without a shell; one that does not end in time is ended. */
export function startProgram(
  name: 'postqueue' | 'postsuper',
  args: readonly string[],
  timeoutMs: number,
): Running {
  const program = spawn(name, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, LC_ALL: 'C', TZ: 'UTC' },
    cwd: '/',
  })
  const ended = new Promise<Awaited<Running['ended']>>((resolve, reject) => {
    let complaint = ''
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      program.kill('SIGKILL')
    }, timeoutMs)
    program.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(0, MAX_COMPLAINT)
    })
    program.once('error', (error) => {
      clearTimeout(timer)
      reject(new QueueAway(`${name} could not be started`, { cause: error }))
    })
    program.once('close', (status) => {
      clearTimeout(timer)
      resolve({ status, complaint: complaint.trim(), isLate })
    })
  })
  // Somebody waits for it in every case, only not always from the first moment.
  ended.catch(() => {})
  return { program, ended }
}

/** To its end; answers what it said on standard error. */
export async function runProgram(...start: Parameters<typeof startProgram>): Promise<string> {
  const { program, ended } = startProgram(...start)
  program.stdout.resume()
  const { status, complaint, isLate } = await ended
  if (isLate) throw new QueueAway(`${start[0]} did not end in time`)
  if (status !== 0) throw new QueueAway(complaint || `${start[0]} ended with status ${status}`)
  return complaint
}
