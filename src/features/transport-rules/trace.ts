import type { Vault } from '../../lib/vault.ts'

export const TRACE_HEADER = 'X-Svc-Rule-Loop'
const MAX_HOPS = 5
const PURPOSE = 'transport rule loop'

/**
 * The ids of the rules that have forwarded the message so far. The signature covers the Message-ID:
 * otherwise a sender could forge the field and keep a rule from copying the message.
 */
export function readTrace(vault: Vault, messageId: string | null, fields: readonly string[]) {
  for (const field of fields) {
    const [, ids = '', signature] = /^([0-9A-Z,]{26,200}); ([0-9a-f]{64})$/.exec(field) ?? []
    if (signature === signatureOf(vault, messageId, ids)) return ids.split(',')
  }
  return []
}

export const writeTrace = (vault: Vault, messageId: string | null, rules: readonly string[]) => {
  const ids = rules.join(',')
  return `${ids}; ${signatureOf(vault, messageId, ids)}`
}

const signatureOf = (vault: Vault, messageId: string | null, ids: string): string =>
  vault.fingerprint(PURPOSE, `${messageId ?? ''}\n${ids}`)

/** Each rule forwards a message once, and no rule forwards it after MAX_HOPS hops. */
export const mayForward = (trace: readonly string[], rule: string): boolean =>
  !trace.includes(rule) && trace.length < MAX_HOPS
