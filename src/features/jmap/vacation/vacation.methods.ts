import type { Caller } from '../../../access/caller.ts'
import { ApiError } from '../../../errors.ts'
import { scanHtml } from '../../../mime/html.ts'
import { type Arguments, isDate } from '../core/arguments.ts'
import { invalidProperties, JmapError } from '../core/errors.ts'
import { VACATION } from '../core/limits.ts'
import type { Call, Method } from '../core/method.ts'
import { type Patch, setObjects } from '../core/set-objects.ts'
import { getObjects } from '../core/standard-methods.ts'
import { changeAccount, stateOf } from '../index/change-log.ts'

const SINGLETON = 'singleton'
const PROPERTIES = ['id', 'isEnabled', 'fromDate', 'toDate', 'subject', 'textBody', 'htmlBody']

/** The self-service of the mailbox holder, called as this holder. */
const holderCaller = ({ login: { caller, holder } }: Call): Caller => ({
  ...caller,
  kind: 'mailbox',
  id: holder.id,
  email: holder.email,
  organizationId: holder.organization_id,
})

async function readVacation(call: Call) {
  const settings = await call.vacation.get(holderCaller(call))
  const { vacation_html: htmlBody } = await call.core.db
    .selectFrom('jmap_accounts')
    .select('vacation_html')
    .where('id', '=', call.mail.account.id)
    .executeTakeFirstOrThrow()
  const isFromHtml = htmlBody !== null && settings.message === textOfHtml(htmlBody)
  return {
    id: SINGLETON,
    isEnabled: settings.enabled,
    fromDate: shownDate(settings.start_date),
    toDate: shownDate(settings.end_date),
    subject: settings.subject,
    textBody: isFromHtml ? null : settings.message,
    htmlBody,
  }
}

/** The responder answers in plain text. */
function textOfHtml(html: string): string | null {
  const pieces: string[] = []
  const gap = () => pieces.push(' ')
  scanHtml(html, { text: (text) => pieces.push(text), openTag: gap, closeTag: gap })
  return pieces.join('').replace(/\s+/g, ' ').trim() || null
}

/** The self-service stores any text; a day counts from its beginning. */
function shownDate(text: string | null): string | null {
  if (text === null) return null
  if (isDate(text)) return text
  return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : null
}

/** The mail server compares days in UTC. */
const dayOf = (date: string | null) => date && new Date(date).toISOString().slice(0, 10)

const get: Method = {
  capability: VACATION,
  run: (call, args) =>
    getObjects(args, {
      db: call.core.db,
      accountId: call.mail.account.id,
      properties: PROPERTIES,
      read: async (ids) => (!ids || ids.includes(SINGLETON) ? [await readVacation(call)] : []),
    }),
}

const set: Method = {
  capability: VACATION,
  isWriting: true,
  async run(call, args: Arguments) {
    const { core, mail, createdIds } = call
    const result = await setObjects(args, createdIds, {
      state: async () => String(await stateOf(core.db, mail.account.id)),
      create: async () => {
        throw new JmapError('singleton')
      },
      update: (id, patch) => update(call, id, patch),
      async destroy(id) {
        throw new JmapError(id === SINGLETON ? 'singleton' : 'notFound')
      },
    })
    return { accountId: mail.account.id, ...result }
  },
}

async function update(call: Call, id: string, patch: Patch): Promise<null> {
  if (id !== SINGLETON) throw new JmapError('notFound')
  const wrong = Object.entries(patch).filter(([property, value]) => !isValid(property, value))
  if (wrong.length > 0) throw invalidProperties(wrong.map(([property]) => property))
  const wanted = { ...(await readVacation(call)), ...patch }
  const { fromDate, toDate, htmlBody } = wanted
  await refusals(() =>
    call.vacation.save(
      holderCaller(call),
      {
        enabled: wanted.isEnabled,
        subject: wanted.subject,
        message: wanted.textBody ?? (htmlBody === null ? null : textOfHtml(htmlBody)),
        start_date: fromDate,
        end_date: toDate,
      },
      { days: 1, from: dayOf(fromDate), to: dayOf(toDate), except_domain: null },
    ),
  )
  await changeAccount(call.core.db, call.mail.account.id, async (tx, record) => {
    await tx
      .updateTable('jmap_accounts')
      .set({ vacation_html: htmlBody })
      .where('id', '=', call.mail.account.id)
      .execute()
    record({ kind: 'VacationResponse', id: SINGLETON, action: 'updated' })
  })
  return null
}

function isValid(property: string, value: unknown): boolean {
  switch (property) {
    case 'isEnabled':
      return typeof value === 'boolean'
    case 'fromDate':
    case 'toDate':
      return value === null || isDate(value)
    case 'subject':
      return value === null || (typeof value === 'string' && value.length <= 500)
    case 'textBody':
    case 'htmlBody':
      return value === null || (typeof value === 'string' && value.length <= 20_000)
    default:
      return false
  }
}

async function refusals<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error
    throw invalidProperties(['textBody'], error.message)
  }
}

export const vacationMethods: Record<string, Method> = {
  'VacationResponse/get': get,
  'VacationResponse/set': set,
}
