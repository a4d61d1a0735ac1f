import type { Db } from '../../../database/database.ts'
import { showBlock } from '../../../hosting/ip-reputation.repository.ts'
import { insertCommand } from '../../../http/audit.repository.ts'
import * as throttles from './throttles.repository.ts'

/** Lifts a throttle for the command line, with its audit row; returns how many there were. */
export const liftByCommand = (db: Db, target: throttles.Target, reason: string, now: Date) =>
  db.transaction().execute(async (tx) => {
    const lifted = await throttles.lift(tx, target, now)
    if (lifted === 0) return 0
    if ('client_ip' in target) await showBlock(tx, target.client_ip, null, now)
    const request_body = { ...target, reason }
    await insertCommand(tx, { action: 'lift_throttle', request_body }, now)
    return lifted
  })
