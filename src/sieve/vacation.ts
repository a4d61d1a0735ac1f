import { marker, markers, textOf } from './marker.ts'
import { lines, quoted, quotedLine, required } from './text.ts'

const NAME = 'svc-vacation'

export interface Vacation {
  enabled: boolean
  subject: string | null
  message: string | null
  start_date: string | null
  end_date: string | null
  /** Settings that only tenants can make; a save by the mailbox owner removes them. */
  terms?: VacationTerms
}

export interface VacationTerms {
  /** Days between two replies to one sender. */
  days: number
  /** The first and the last day with replies, in UTC, such as 2026-12-24. */
  from: string | null
  to: string | null
  /** Senders at this domain get no reply. */
  except_domain: string | null
}

const ONE_A_DAY: VacationTerms = { days: 1, from: null, to: null, except_domain: null }

const none: Vacation = {
  enabled: false,
  subject: null,
  message: null,
  start_date: null,
  end_date: null,
}

/**
 * One reply per sender and day, unless a tenant set other terms. RFC 5230 §4.6: lists, bulk and automatic
 * mail get none.
 */
export const vacation = {
  name: NAME,
  none,

  write: (settings: Vacation, ownAddress: string): string =>
    lines(
      marker(NAME, settings),
      settings.enabled && settings.message
        ? answering(ownAddress, settings.subject, settings.message, settings.terms ?? ONE_A_DAY)
        : ['# No replies.'],
    ),

  read(script: string): Vacation {
    const [settings] = markers(script, NAME)
    if (!settings) return none
    return {
      enabled: settings.enabled === true,
      subject: textOf(settings.subject),
      message: textOf(settings.message),
      start_date: textOf(settings.start_date),
      end_date: textOf(settings.end_date),
      ...termsOf(settings.terms),
    }
  },
}

function termsOf(value: unknown): { terms?: VacationTerms } {
  if (value === null || typeof value !== 'object') return {}
  const { days, from, to, except_domain } = value as Record<string, unknown>
  const terms = {
    days: Number.isSafeInteger(days) ? (days as number) : 1,
    from: textOf(from),
    to: textOf(to),
    except_domain: textOf(except_domain),
  }
  return { terms }
}

/** The dates are tested at delivery. */
function answering(
  ownAddress: string,
  subject: string | null,
  message: string,
  { days, from, to, except_domain }: VacationTerms,
): string[] {
  const tests = [
    ...(from ? [`currentdate :zone "+0000" :value "ge" "date" ${quoted(from)}`] : []),
    ...(to ? [`currentdate :zone "+0000" :value "le" "date" ${quoted(to)}`] : []),
    ...(except_domain ? [`not address :is :domain "from" ${quoted(except_domain)}`] : []),
  ]
  const command = reply(days, ownAddress, subject, message)
  return [
    required(['vacation', ...(from || to ? ['date', 'relational'] : [])]),
    ...(tests.length === 0 ? [command] : [`if allof (${tests.join(', ')}) {`, `  ${command}`, '}']),
  ]
}

/** Without a subject the mail server uses `Auto: ` and the original subject. */
function reply(days: number, address: string, subject: string | null, message: string): string {
  const title = subject === null ? '""' : quotedLine(subject)
  return [
    `vacation :days ${days} :addresses ${quoted(address)}`,
    ...(title === '""' ? [] : [`:subject ${title}`]),
    `${quoted(message)};`,
  ].join(' ')
}
