import { reversedLabels } from '../../lib/ip.ts'
import { DnsUnavailable, type WithDns } from '../../mail/dns.ts'

/** The result of a block list; undefined when it did not answer or the answer makes no sense. */
export type Verdict = 'listed' | 'not listed' | undefined

/** The name to look up for an IP address below the zone of a block list. */
export const nameIn = (zone: string, ip: string): string => `${reversedLabels(ip)}.${zone}`

/**
 * Lists answer from 127.0.0.0/8. 127.255.255.0/24 means that the list refuses this resolver. Any other
 * answer comes from a zone that is no list any more and counts as not listed.
 */
export async function askList(withDns: WithDns, zone: string, ip: string): Promise<Verdict> {
  let answers: string[]
  try {
    answers = await withDns((dns) => dns.addresses(nameIn(zone, ip)))
  } catch (error) {
    if (error instanceof DnsUnavailable) return undefined
    throw error
  }
  if (answers.length === 0) return 'not listed'
  const isAnswer = (answer: string) =>
    answer.startsWith('127.') && !answer.startsWith('127.255.255.')
  return answers.some(isAnswer) ? 'listed' : undefined
}
