import type { Static } from 'typebox'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { invalidField, ServiceUnavailable } from '../../../errors.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { DoveadmAway } from '../../../mail/doveadm.ts'
import { InvalidCleanup } from '../storage.errors.ts'
import { StorageCleanup } from '../storage.events.ts'
import type { CleanupRequest } from '../storage.schemas.ts'
import type { StorageService } from '../storage.service.ts'
import * as calculations from '../usage/calculations.repository.ts'
import { FOLDERS, findOldMail, removeOldMail } from './old-mail.ts'

const DEFAULT_DAYS = 30
const MOST_DAYS = 36_500

interface Needs extends Pick<Core, 'change' | 'db' | 'doveadm' | 'events' | 'log' | 'now'> {
  storage: Pick<StorageService, 'findDomain'>
}

export type CleanupService = ReturnType<typeof cleanupService>

export function cleanupService(needs: Needs) {
  const { change, events, log, now, storage } = needs

  async function asked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DoveadmAway)) throw error
      log.warn({ err: error }, 'removing old mail failed')
      throw new ServiceUnavailable('Storage service unavailable')
    }
  }

  return {
    async cleanUp(caller: Caller, sent: Static<typeof CleanupRequest>) {
      const { target, days, dryRun, mail } = checked(sent)
      const domain = sent.domain ? await storage.findDomain(caller, sent.domain) : undefined
      const before = new Date(now().getTime() - days * DAY_MS)
      const folders = mail ? (FOLDERS[target] ?? []) : []
      const { found, complete } = domain
        ? await asked(() => findOldMail(needs, domain.id, folders, before))
        : { found: [], complete: true }
      const matchedMessages = found.reduce((total, { messages }) => total + messages, 0)
      // Recorded before the mail is removed, so that an interrupted removal is on record too.
      const { matched, cleaned } = await change(caller, async (tx) => {
        const matched = dryRun
          ? await calculations.countBefore(tx, before, domain?.domain)
          : await calculations.purgeBefore(tx, before, domain?.domain)
        const cleaned = dryRun ? 0 : matched.records + matched.alerts
        await events.emit(
          tx,
          StorageCleanup,
          { org_id: domain?.organization_id ?? null, domain: domain?.domain ?? null },
          {
            ...(domain && { domain: domain.domain }),
            target,
            older_than_days: days,
            dry_run: dryRun,
            matched_records: matched.records,
            cleaned_records: cleaned,
            ...(mail && { matched_messages: matchedMessages }),
          },
        )
        return { matched, cleaned }
      })
      const removed = dryRun ? 0 : await asked(() => removeOldMail(needs, found, before))
      return {
        success: complete && (dryRun || removed === matchedMessages),
        dry_run: dryRun,
        older_than_days: days,
        days_to_keep: days,
        target,
        domain: domain?.domain ?? null,
        matched_records: matched.records,
        cache_entries: matched.alerts,
        cleaned_records: cleaned,
        matched_messages: matchedMessages,
        cleaned_messages: removed,
        note: noteOf(mail, dryRun),
        timestamp: now().toISOString(),
      }
    },
  }
}

function noteOf(mail: boolean, dryRun: boolean): string {
  if (dryRun) return 'Counted only; nothing was removed.'
  return mail
    ? 'Records of past usage and old mail were removed.'
    : 'Only records of past usage are removed, never mail. Mail goes with delete_mail.'
}

function checked(sent: Static<typeof CleanupRequest>) {
  const { target = 'trash', dry_run: dryRun = false, delete_mail: mail = false } = sent
  if (!Object.hasOwn(FOLDERS, target)) {
    throw new InvalidCleanup(`target must be one of ${Object.keys(FOLDERS).join(', ')}`)
  }
  const days = sent.older_than_days ?? sent.days_to_keep ?? DEFAULT_DAYS
  if (days < 1 || days > MOST_DAYS) {
    throw new InvalidCleanup(`older_than_days must be from 1 to ${MOST_DAYS}`)
  }
  if (mail && !sent.domain) {
    throw invalidField('domain', 'Name the domain whose old mail is to be removed')
  }
  return { target, days, dryRun, mail }
}
