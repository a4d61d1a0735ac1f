import { idsArgument } from '../core/arguments.ts'
import { JmapError } from '../core/errors.ts'
import { conditionsOf } from '../core/filters.ts'
import { LIMITS, MAIL } from '../core/limits.ts'
import type { Method } from '../core/method.ts'
import { changesOf, queryChangesOf } from '../core/standard-methods.ts'
import { stateOf } from '../index/change-log.ts'
import { copyEmails } from './copy-emails.ts'
import { allIds, inSameThreads } from './emails.repository.ts'
import { importEmails } from './import-emails.ts'
import { parseEmails } from './parse-emails.ts'
import { wantedProperties } from './properties.ts'
import { findAll, findPage, readQuery } from './query-emails.ts'
import { shownEmails } from './read-emails.ts'
import { searchSnippets } from './search-snippets.ts'
import { setEmails } from './set-emails.ts'

const get: Method = {
  capability: MAIL,
  async run(call, args) {
    const { core, mail } = call
    const wanted = wantedProperties(args)
    const asked = idsArgument(args)
    const state = String(await stateOf(core.db, mail.account.id))
    const ids = asked ?? (await allIds(core.db, mail.account.id, LIMITS.maxObjectsInGet))
    if (ids.length > LIMITS.maxObjectsInGet) throw new JmapError('requestTooLarge')
    const list = await shownEmails(call, ids, wanted)
    const found = new Set(list.map(({ id }) => id))
    const notFound = (asked ?? []).filter((id) => !found.has(id))
    return { accountId: mail.account.id, state, list, notFound }
  },
}

const changes: Method = {
  capability: MAIL,
  run: async ({ core, mail }, args) =>
    (await changesOf(core.db, mail.account.id, 'Email', args)).result,
}

const query: Method = {
  capability: MAIL,
  async run(call, args) {
    const { core, mail } = call
    const queryState = String(await stateOf(core.db, mail.account.id))
    const { position, ids, total } = await findPage(call, readQuery(call, args), args)
    return {
      accountId: mail.account.id,
      queryState,
      canCalculateChanges: true,
      position,
      ids,
      ...(total !== undefined && { total }),
    }
  },
}

const queryChanges: Method = {
  capability: MAIL,
  async run(call, args) {
    const { core, mail } = call
    const read = readQuery(call, args)
    const accountId = mail.account.id
    // The other messages of a thread can appear or disappear with one of them.
    const isThreaded =
      read.collapseThreads ||
      conditionsOf(read.filter).some((one) => Object.keys(one).some((key) => /InThread/.test(key)))
    return queryChangesOf(args, {
      db: core.db,
      accountId,
      kind: 'Email',
      ids: await findAll(call, read),
      ...(isThreaded && {
        related: (changed: string[]) => inSameThreads(core.db, accountId, changed),
      }),
    })
  },
}

export const emailMethods: Record<string, Method> = {
  'Email/get': get,
  'Email/changes': changes,
  'Email/query': query,
  'Email/queryChanges': queryChanges,
  'Email/set': { capability: MAIL, isWriting: true, run: setEmails },
  'Email/copy': { capability: MAIL, isWriting: true, run: copyEmails },
  'Email/import': { capability: MAIL, isWriting: true, run: importEmails },
  'Email/parse': { capability: MAIL, run: parseEmails },
  'SearchSnippet/get': { capability: MAIL, run: searchSnippets },
}
