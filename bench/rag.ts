import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { anonymous } from '../src/access/caller.ts'
import { collectionService } from '../src/features/rag/collections/collections.service.ts'
import { store } from '../src/features/rag/documents/store.repository.ts'
import { embedderFor } from '../src/features/rag/embedding/embedder.ts'
import { documentsOf, type Message } from '../src/features/rag/indexing/index-mailbox.ts'
import { parseMessage } from '../src/features/rag/indexing/parse-message.ts'
import { FIELDS } from '../src/features/rag/rag.schemas.ts'
import { ranker } from '../src/features/rag/search/ranker.ts'
import { searchService } from '../src/features/rag/search/search.service.ts'
import { settingsService } from '../src/features/rag/settings/settings.service.ts'
import { corpus, dice, question } from './rag/corpus.ts'
import { startInstallation } from './rag/installation.ts'

const AT_ONCE = 100
const TOP = 10

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '100000' },
    questions: { type: 'string', default: '200' },
  },
})
const count = Number(values.messages)
const questions = Number(values.questions)
const folder = mkdtempSync(join(tmpdir(), 'mailplane-rag-'))
const say = (text: string) => process.stdout.write(`${text}\n`)
const quantile = (times: number[], part: number) =>
  [...times].sort((one, other) => one - other)[Math.ceil(times.length * part) - 1] as number

const installation = await startInstallation(folder)
try {
  const { accountId, core, domain, folderId, organizationId, sql } = installation
  say(`Node ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`)
  const settings = settingsService(core)
  const wishes = await settings.settingsOf(organizationId)
  const embedder = embedderFor(core, wishes)
  const target = { job: { organization_id: organizationId }, domain, settings: wishes, embedder }
  const fields = new Set<string>(FIELDS)
  const letterOf = corpus()
  const questioned: { uid: number; sentence: string[] }[] = []
  const every = Math.max(1, Math.floor(count / questions))

  // As an index job does after fetching: parse, split, and store one batch per transaction.
  let spent = 0
  for (let at = 0; at < count; at += AT_ONCE * 20) {
    const letters = Array.from({ length: Math.min(AT_ONCE * 20, count - at) }, (_, i) => {
      const letter = letterOf(at + i + 1)
      if ((at + i) % every === 0) {
        questioned.push({ uid: at + i + 1, sentence: letter.sentences[2] ?? [] })
      }
      return letter.source
    })
    const begun = performance.now()
    let storing: Promise<unknown> = Promise.resolve()
    for (let from = 0; from < letters.length; from += AT_ONCE) {
      const messages: Message[] = []
      for (const [index, source] of letters.slice(from, from + AT_ONCE).entries()) {
        const parsed = await parseMessage(source, undefined, fields)
        messages.push({ uid: at + from + index + 1, size: source.length, parsed })
      }
      const rows = await documentsOf(target, accountId, folderId, messages)
      await storing
      storing = core.db.transaction().execute((tx) => store(tx, embedder.model, rows))
    }
    await storing
    spent += performance.now() - begun
  }
  const rate = count / (spent / 1000)
  say(
    `indexing: ${count} messages in ${(spent / 1000).toFixed(1)} s, ${rate.toFixed(0)}/s (aim: 500)`,
  )
  await sql`vacuum analyze rag_chunks, rag_documents, rag_signatures`

  const collections = collectionService({ ...core, settings })
  const search = searchService({ ...core, settings, collections })
  const rank = ranker(core.db)
  const caller = {
    ...anonymous,
    scope: { organization: organizationId },
    id: 'bench',
    ip: '127.0.0.1',
    userAgent: null,
    correlationId: '',
    atStart: [],
    atCommit: [],
  }
  const uids = new Map(
    (await sql<{ id: string; uid: number }[]>`select id, uid from rag_documents`).map((row) => [
      row.id,
      row.uid,
    ]),
  )
  const filter = { organization_id: organizationId }
  for (const mistakes of [0, 0.3, 0.6]) {
    const random = dice(7)
    const hitCounts = { fullText: 0, hybrid: 0 }
    const times: number[] = []
    const plain: number[] = []
    for (const { uid, sentence } of questioned) {
      const query = question(sentence, random, mistakes)
      const hits = (ids: string[]) => (ids.slice(0, TOP).some((id) => uids.get(id) === uid) ? 1 : 0)
      hitCounts.fullText += hits((await rank(filter, query)).fused.map((one) => one.document_id))
      const begun = performance.now()
      const { results } = await search.search(caller, { query })
      times.push(performance.now() - begun)
      hitCounts.hybrid += hits(results.map((one) => one.email_id))
      if (plain.length < 20) {
        const patterns = query.split(' ').map((word) => `%${word}%`)
        const start = performance.now()
        await sql`
          select document_id from rag_chunks
          where organization_id = ${organizationId} and text ilike all (${patterns}) limit 10`
        plain.push(performance.now() - start)
      }
    }
    const share = (hits: number) => `${((hits / questioned.length) * 100).toFixed(1)} %`
    const p95 = quantile(times, 0.95)
    say(
      `${mistakes * 100} % of the words misspelled: found among the first ${TOP}: full text ${share(hitCounts.fullText)}, hybrid ${share(hitCounts.hybrid)}`,
    )
    say(
      `  search p50 ${quantile(times, 0.5).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms (aim: under 150); ILIKE over the same text p95 ${quantile(plain, 0.95).toFixed(0)} ms, ${(quantile(plain, 0.95) / p95).toFixed(1)} times that`,
    )
    if (hitCounts.hybrid < hitCounts.fullText) process.exitCode = 1
  }
} finally {
  await installation.stop()
  rmSync(folder, { recursive: true, force: true })
}
