import { isIP } from 'node:net'
import { publicUrl } from '../../../config/index.ts'
import type { Core } from '../../../core.ts'
import { brandOf } from '../../../hosting/brand.repository.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { newLease } from '../../../jobs/lease.ts'
import { linkMail } from './link-mail.ts'
import * as links from './mail-links.repository.ts'

const BATCH = 10
/** Ten mails, each with a time limit of its own. */
const LEASE_SECONDS = 180
const ATTEMPTS = 6
const FIRST_PAUSE_SECONDS = 15

/** Sends invitations and password resets. A mail may be sent twice after a crash, never not at all. */
export const mailLinks: Chore = {
  name: 'account-links',
  async round(core) {
    const lease = newLease(LEASE_SECONDS)
    const due = await links.claim(core.db, lease, BATCH)
    for (const one of due) {
      const error = await sendOne(core, one)
      if (error === undefined) await links.finish(core.db, one, lease)
      else {
        core.log.warn({ link: one.id, error }, 'mail with an account link was not sent')
        await links.fail(core.db, one, lease, error, pauseAfter(one.mail_attempts + 1))
      }
    }
    return due.length === BATCH
  },
}

const pauseAfter = (attempts: number) =>
  attempts >= ATTEMPTS ? undefined : FIRST_PAUSE_SECONDS * 2 ** (attempts - 1)

/** Returns the reason of a failure. */
async function sendOne({ access, config, db, mailer }: Core, one: links.DueLink) {
  if (config.SVC_PUBLIC_URL === undefined && isLocal(publicUrl(config))) {
    return `the link would lead to ${publicUrl(config)}; set SVC_PUBLIC_URL`
  }
  try {
    const brand = one.organization_id === null ? {} : await brandOf(db, one.organization_id)
    await mailer.send(linkMail(one, access.links.open(one.sealed_token), brand))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** An address that only this host, or every host for itself, can reach. */
function isLocal(url: string): boolean {
  const { hostname } = new URL(url)
  const ip = hostname.replace(/^\[|\]$/g, '')
  return hostname === 'localhost' || (isIP(ip) !== 0 && /^(127\.|0\.0\.0\.0$|::1?$)/.test(ip))
}
