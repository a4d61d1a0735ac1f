import { readConfig } from '../../src/config/index.ts'
import { startCore } from '../../src/core.ts'
import type { Target } from '../../src/database/database.ts'
import { serviceLog } from '../../src/log.ts'

export const ORGANIZATION = 'BENCH'

/** The parts of a process that archive, on a database that is there already. */
export async function openArchive(target: Target, env: Record<string, string>) {
  const config = readConfig(env)
  const { log, close: closeLog } = serviceLog('bench', config)
  const core = await startCore({ config, log, target, listeners: [] })
  return {
    core,
    async stop() {
      await core.close()
      closeLog()
    },
  }
}

/** Text of about this size, different for each number. */
export function letter(number: number, bytes: number): Buffer {
  const lines = [`From: a@far.test`, 'To: box@bench.test', `Subject: letter ${number}`, '']
  let text = lines.join('\r\n')
  for (let line = 0; text.length < bytes; line++) {
    text += `\r\nline ${line} of letter ${number}, which says ${(number * 7919 + line * 104729) % 9973}`
  }
  return Buffer.from(text)
}
