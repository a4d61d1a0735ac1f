import { type Networks, parseNetworks } from '../../../lib/ip.ts'
import type { DnsLookups } from '../../../mail/dns.ts'

// RFC 7208 §4.6.4.
const MAX_LOOKUPS = 10

type SpfOutcome =
  | 'authorized'
  | 'not-authorized'
  | 'no-record'
  | 'several-records'
  | 'too-many-lookups'
  | 'loop'

/** Checks if the SPF record of a domain authorizes an IP address; only the qualifier `+` does. */
export async function spfOutcome(domain: string, ip: string, dns: DnsLookups): Promise<SpfOutcome> {
  const state: State = { ip, dns, lookups: 0, path: [] }
  try {
    const result = await evaluate(domain, state)
    return result === 'pass' ? 'authorized' : result === 'none' ? 'no-record' : 'not-authorized'
  } catch (error) {
    if (error instanceof SpfProblem) return error.outcome
    throw error
  }
}

interface State {
  ip: string
  dns: DnsLookups
  lookups: number
  path: string[]
}

type Result = 'pass' | 'fail' | 'none'

class SpfProblem extends Error {
  readonly outcome: SpfOutcome
  constructor(outcome: SpfOutcome) {
    super(outcome)
    this.outcome = outcome
  }
}

async function evaluate(domain: string, state: State): Promise<Result> {
  if (state.path.includes(domain)) throw new SpfProblem('loop')
  const records = (await state.dns.txt(domain)).filter(isSpf)
  if (records.length === 0) return 'none'
  if (records.length > 1) throw new SpfProblem('several-records')
  state.path.push(domain)
  const terms = (records[0] as string)
    .split(/\s+/)
    .slice(1)
    .filter((term) => term !== '')
  for (const term of terms) {
    const { qualifier, name, value } = mechanism(term)
    if (await matches(name, value, domain, state)) {
      state.path.pop()
      return qualifier === '+' ? 'pass' : 'fail'
    }
  }
  const redirect = terms.find((term) => /^redirect=/i.test(term))
  let result: Result = 'fail'
  if (redirect) {
    count(state)
    result = await evaluate(redirect.slice('redirect='.length).toLowerCase(), state)
  }
  state.path.pop()
  return result
}

const isSpf = (record: string) => /^v=spf1(\s|$)/i.test(record)

function mechanism(term: string) {
  const qualifier = /^[+\-~?]/.test(term) ? (term[0] as string) : '+'
  const text = term.replace(/^[+\-~?]/, '')
  const end = text.search(/[:/]/)
  return {
    qualifier,
    name: (end === -1 ? text : text.slice(0, end)).toLowerCase(),
    value: end === -1 ? '' : text.slice(end).replace(/^:/, ''),
  }
}

async function matches(
  name: string,
  value: string,
  domain: string,
  state: State,
): Promise<boolean> {
  switch (name) {
    case 'all':
      return true
    case 'ip4':
    case 'ip6':
      return parseNetworks([value])?.contains(state.ip) ?? false
    case 'include':
      count(state)
      return (await evaluate(value.toLowerCase(), state)) === 'pass'
    case 'a':
    case 'mx': {
      count(state)
      const [target = '', ...prefixes] = value.split('/')
      const host = target === '' ? domain : target.toLowerCase()
      const hosts = name === 'a' ? [host] : await state.dns.mx(host)
      const ips = (await Promise.all(hosts.map((one) => state.dns.addresses(one)))).flat()
      return (
        networksAround(
          ips,
          prefixes.filter((prefix) => prefix !== ''),
        )?.contains(state.ip) ?? false
      )
    }
    case 'exists':
    case 'ptr':
      // These depend on the sender of each message, so they cannot be evaluated here.
      count(state)
      return false
    default:
      return false
  }
}

/** `a/24` is the network around each IP address; `a/24//64` has one length per family. */
function networksAround(ips: string[], [four = '32', six = '128']: string[]): Networks | undefined {
  return parseNetworks(ips.map((ip) => `${ip}/${ip.includes(':') ? six : four}`))
}

function count(state: State): void {
  state.lookups++
  if (state.lookups > MAX_LOOKUPS) throw new SpfProblem('too-many-lookups')
}
