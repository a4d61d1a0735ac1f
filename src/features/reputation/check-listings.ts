import type { Core } from '../../core.ts'
import { normalizeIp } from '../../lib/ip.ts'
import { askList, type Verdict } from './dnsbl.ts'
import * as ips from './ips.repository.ts'
import { ReputationChanged } from './reputation.events.ts'
import { ratingOf } from './scoring.ts'

const LISTED_SCORE = 0
const UNKNOWN_SCORE = 50

type Needs = Pick<Core, 'config' | 'db' | 'events' | 'log' | 'now' | 'withDns'>

/** Looks the IP addresses of this host up in the configured block lists. */
export async function checkListings(core: Needs): Promise<void> {
  const { config, db, log, now, withDns } = core
  const zones = [...new Set(config.RBL_ZONES.map((zone) => zone.toLowerCase()))]
  const own = zones.length === 0 ? [] : [...new Set(config.SENDING_IPS.map(normalizeIp))]
  await ips.forgetListings(db, own, now())
  for (const ip of own) {
    const verdicts = new Map<string, Verdict>()
    await Promise.all(
      zones.map(async (zone) => verdicts.set(zone, await askList(withDns, zone, ip))),
    )
    const silent = zones.filter((zone) => verdicts.get(zone) === undefined)
    if (silent.length > 0) log.warn({ ip, zones: silent }, 'block lists returned no usable answer')
    await store(core, ip, verdicts)
  }
}

/** A list without an answer keeps its previous result. */
async function store(
  { config, db, events, log, now }: Needs,
  ip: string,
  verdicts: Map<string, Verdict>,
) {
  await db.transaction().execute(async (tx) => {
    const { listed_zones: before, reputation_score: old_score } = await ips.lockOwn(tx, ip, now())
    const zones = [...verdicts]
      .filter(([zone, verdict]) => verdict === 'listed' || (!verdict && before.includes(zone)))
      .map(([zone]) => zone)
      .sort()
    const isSame = zones.join() === before.join()
    const new_score =
      zones.length > 0 ? LISTED_SCORE : before.length > 0 ? UNKNOWN_SCORE : old_score
    await ips.setListed(tx, ip, zones, new_score, now())
    if (isSame) return
    log.warn(
      { ip, zones, alert: zones.length > 0 },
      'block listings of a sending IP address changed',
    )
    await events.emit(
      tx,
      ReputationChanged,
      { org_id: null },
      {
        domain: config.SVC_MAIL_HOSTNAME,
        old_score,
        new_score,
        rating: ratingOf(new_score),
        ip,
        listed_zones: zones,
      },
    )
  })
}
