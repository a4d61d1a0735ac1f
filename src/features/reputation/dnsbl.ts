import { isIPv4 } from 'node:net'
import { DnsUnavailable, type WithDns } from '../../mail/dns.ts'

/** What a block list says of an address; undefined when it could not be asked, or does not make sense. */
export type Verdict = 'listed' | 'not listed' | undefined

/** RFC 5782: the parts of the address from the last to the first, below the zone. */
export function nameIn(zone: string, ip: string): string {
  const parts = isIPv4(ip) ? ip.split('.') : nibblesOf(ip)
  return `${parts.reverse().join('.')}.${zone}`
}

function nibblesOf(ip: string): string[] {
  const [head = '', tail] = ip.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [before, after] = [groups(head), groups(tail ?? '')]
  const missing = 8 - before.length - after.length
  const zeros: string[] = Array(tail === undefined ? 0 : missing).fill('0')
  return [...before, ...zeros, ...after].flatMap((group) => [...group.padStart(4, '0')])
}

/**
 * Lists answer from 127.0.0.0/8. Of that, 127.255.255.0/24 means that the list does not answer
 * resolvers like ours; anything else comes from a zone that is no list any more, and lists nobody.
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
