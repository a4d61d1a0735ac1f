import { lines, quoted, required } from './text.ts'
import { reply } from './vacation.ts'

export interface TenantVacation {
  address: string
  subject: string
  message: string
  days: number
  /** Days in UTC, such as 2026-12-24; the reply goes out from the first to the last of them. */
  from: string | undefined
  to: string | undefined
  /** Senders at this domain get no reply. */
  exceptDomain: string | undefined
}

/** A responder that a tenant sets for a mailbox; unlike the holder's own it keeps to its dates. */
export function tenantVacation(settings: TenantVacation): string {
  const { from, to, exceptDomain } = settings
  const tests = [
    ...(from ? [`currentdate :zone "+0000" :value "ge" "date" ${quoted(from)}`] : []),
    ...(to ? [`currentdate :zone "+0000" :value "le" "date" ${quoted(to)}`] : []),
    ...(exceptDomain ? [`not address :is :domain "from" ${quoted(exceptDomain)}`] : []),
  ]
  const extensions = ['vacation', ...(from || to ? ['date', 'relational'] : [])]
  const command = reply(settings)
  return lines(
    required(extensions),
    tests.length === 0 ? command : [`if allof (${tests.join(', ')}) {`, `  ${command}`, '}'],
  )
}
