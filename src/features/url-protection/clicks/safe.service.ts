import type { Core } from '../../../core.ts'
import { brandOf, type ShownBrand } from '../../../hosting/brand.repository.ts'
import { networkOf } from '../../../lib/ip.ts'
import { within } from '../../../lib/timeout.ts'
import { ulid } from '../../../lib/ulid.ts'
import { automation, type Visit } from '../../tracking/recipients/visitor.ts'
import type { Checker } from '../checking/checker.ts'
import type { Verdict, VerdictName } from '../checking/verdict.ts'
import { locationOf, readSafePath, type SafeLink, withFields } from '../links/safe-links.ts'
import { hostOf } from '../lists/entries.ts'
import { clickRecorder } from './recorder.ts'

const MAX_STORED_URL = 2048
const BRAND_WAIT_MS = 500

export interface Visitor extends Visit {
  ip: string
}

/** The answer to a click. */
export type Visited =
  | { kind: 'redirect'; location: string }
  | { kind: 'page'; verdict: Verdict; address: string; location: string; brand: ShownBrand }

type Needs = Pick<Core, 'db' | 'log' | 'now'>

export type SafeService = ReturnType<typeof safeService>

/** Clicks on protected links. A safe link needs no database and fetches nothing. */
export function safeService(core: Needs, checker: Checker) {
  const { db, now } = core
  const recorder = clickRecorder(core)
  const counts: Record<VerdictName | 'unknown' | 'automated', number> = {
    safe: 0,
    suspicious: 0,
    blocked: 0,
    unknown: 0,
    automated: 0,
  }

  /** Programs that look at links on their way count no click. */
  function note(link: SafeLink, { verdict, reasons }: Verdict, visitor: Visitor): void {
    if (automation(visitor) !== undefined) {
      counts.automated++
      return
    }
    counts[verdict]++
    const at = now()
    recorder.add({
      id: ulid(at.getTime()),
      organization_id: link.organizationId,
      url: storable(link.address).slice(0, MAX_STORED_URL),
      url_domain: URL.canParse(link.address) ? hostOf(new URL(link.address)) : '',
      scan_result: verdict,
      reasons,
      client_network: networkOf(visitor.ip),
      clicked_at: at.toISOString(),
    })
  }

  return {
    counts,
    recorder,
    /** Undefined for a link that was not signed here, or too long ago. */
    async visit(
      path: string,
      query: string | undefined,
      visitor: Visitor,
    ): Promise<Visited | undefined> {
      const link = readSafePath(path, checker.keyOf)
      if (!link || (visitor.method === 'POST' && !link.isForm)) {
        counts.unknown++
        return undefined
      }
      const verdict = await checker.check(link.organizationId, link.address)
      note(link, verdict, visitor)
      const { address, isForm } = link
      const location =
        isForm && query !== undefined && visitor.method !== 'POST'
          ? withFields(address, query)
          : locationOf(address)
      if (verdict.verdict === 'safe') return { kind: 'redirect', location }
      const brand = await within(BRAND_WAIT_MS, brandOf(db, link.organizationId)).catch(() => ({}))
      return { kind: 'page', verdict, address, location, brand }
    },
    stop: () => recorder.stop(),
  }
}

/** PostgreSQL refuses NUL in text and lone surrogates. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()
