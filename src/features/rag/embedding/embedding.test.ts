import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { isPrivateEndpoint } from './endpoint.ts'

const PATH = '/api/v1/rag'
const FIELDS = ['subject', 'body']
const ANIMALS = ['cat', 'feline', 'kitten']
const MONEY = ['invoice', 'bill', 'payment']

/** A three-dimensional embedding of a text. */
const meaning = (text: string) => {
  const has = (words: string[]) => (words.some((word) => text.toLowerCase().includes(word)) ? 1 : 0)
  return [has(ANIMALS), has(MONEY), 0.01]
}

describe('with an embeddings endpoint', () => {
  let app: App
  let acme: Awaited<ReturnType<App['tenant']>>
  let collection: string
  let server: Server
  let answerWith: (input: string[]) => { status: number; body: unknown }
  const asked: { authorization?: string; input: string[]; model: string }[] = []
  const embedded = (input: string[]) => ({
    status: 200,
    body: {
      data: input.map((text, index) => ({ index, embedding: meaning(text) })).reverse(),
      usage: { total_tokens: input.length * 7 },
    },
  })
  beforeAll(async () => {
    answerWith = embedded
    server = createServer((request, response) => {
      let text = ''
      request.on('data', (more) => {
        text += more
      })
      request.on('end', () => {
        if (request.url !== '/v1/embeddings') return response.writeHead(200).end('{}')
        const { input, model } = JSON.parse(text)
        asked.push({ authorization: request.headers.authorization as string, input, model })
        const { status, body } = answerWith(input)
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    app = await startApp({
      env: {
        RAG_EMBEDDINGS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
        RAG_EMBEDDINGS_KEY: 'a key of theirs',
        RAG_EMBEDDINGS_MODEL: 'meaning-3',
        RAG_EMBEDDINGS_BATCH: '2',
        RAG_EMBEDDINGS_CENTS_PER_MILLION: '10',
      },
    })
    acme = await app.tenant('acme')
    collection = (await acme.post(`${PATH}/collections/acme.test`, { name: 'All' })).body.data
      .collection_id
    const documents = ['A cat sat there', 'The invoice is due', 'Feline matters'].map(
      (content) => ({
        id: content,
        content,
      }),
    )
    expect((await acme.post(`${PATH}/documents/${collection}`, { documents })).status).toBe(200)
  })
  afterAll(async () => {
    await app.stop()
    server.closeAllConnections()
    server.close()
  })

  it('finds documents by meaning and returns the mode', async () => {
    const { body } = await acme.post(`${PATH}/search`, { query: 'kitten' })
    expect(body.data.mode).toBe('embeddings')
    const names = body.data.results.map((one: { document_id: string }) => one.document_id)
    expect(names.sort()).toEqual(['A cat sat there', 'Feline matters'])
  })

  it('sends the key and the model, with at most RAG_EMBEDDINGS_BATCH texts per request', async () => {
    expect(asked.map(({ input }) => input.length).slice(0, 2)).toEqual([2, 1])
    for (const { authorization, model } of asked) {
      expect([authorization, model]).toEqual(['Bearer a key of theirs', 'meaning-3'])
    }
    const { data } = await app.core.db
      .selectFrom('events')
      .select('data')
      .where('event', '=', 'rag.ai.transaction')
      .orderBy('sequence')
      .executeTakeFirstOrThrow()
    expect(data).toMatchObject({
      operation: 'embedding',
      model: 'meaning-3',
      tokens_used: 14,
      estimated_cost_usd: 0.0000014,
      status: 'completed',
    })
  })

  it.each([
    ['returns 500', () => ({ status: 500, body: {} })],
    ['refuses the key', () => ({ status: 401, body: {} })],
    [
      'returns an invalid embedding',
      () => ({ status: 200, body: { data: [{ index: 0, embedding: 'x' }] } }),
    ],
    ['leaves out embeddings', () => ({ status: 200, body: { data: [] } })],
  ])('returns 503 and stores nothing while the endpoint %s', async (_, answer) => {
    answerWith = answer
    const searched = await acme.post(`${PATH}/search`, { query: 'kitten' })
    expect(searched.status).toBe(503)
    expect(searched.body.error).toBe('RAG service unavailable')
    const documents = [{ id: 'lost', content: 'a kitten' }]
    const added = await acme.post(`${PATH}/documents/${collection}`, { documents })
    expect(added.status).toBe(503)
    answerWith = embedded
    const { body } = await acme.post(`${PATH}/search`, { query: 'kitten' })
    expect(body.data.total).toBe(2)
  })

  it('sends no request for an organization with the local provider', async () => {
    const globex = await app.tenant('globex')
    const path = `${PATH}/organizations/${globex.organizationId}/rag/config`
    const provider = { embedding_provider: 'lexical' }
    const set = await globex.put(path, { enabled_fields: FIELDS, ...provider })
    expect(set.body.data).toMatchObject({ mode: 'lexical', embedding_model: 'lexical-512-v1' })
    const before = asked.length
    await globex.post(`${PATH}/search`, { query: 'kitten' })
    expect(asked.length).toBe(before)
  })
})

describe('with a public embeddings endpoint', () => {
  it('does not use it in privacy mode and rejects its provider', async () => {
    const app = await startApp({ env: { RAG_EMBEDDINGS_URL: 'https://api.company.example/v1' } })
    const acme = await app.tenant('acme')
    const path = `${PATH}/organizations/${acme.organizationId}/rag/config`
    expect((await acme.get(path)).body.data).toMatchObject({ mode: 'lexical', privacy_mode: true })
    const wanted = { enabled_fields: FIELDS, embedding_provider: 'openai' }
    const refused = await acme.put(path, wanted)
    expect([refused.status, refused.body.msg]).toEqual([400, expect.stringContaining('privacy')])
    const open = await acme.put(path, { ...wanted, privacy_mode: false })
    expect(open.body.data).toMatchObject({ mode: 'embeddings', embedding_provider: 'openai' })
    await app.stop()
  })

  it.each([
    ['http://127.0.0.1:11434/v1', true],
    ['http://[::1]/v1', true],
    ['http://10.1.2.3/v1', true],
    ['http://ollama:11434/v1', true],
    ['https://models.corp.internal/v1', true],
    ['https://api.company.example/v1', false],
    ['https://8.8.8.8/v1', false],
  ])('treats %s as private: %s', (url, isPrivate) => {
    expect(isPrivateEndpoint(url)).toBe(isPrivate)
  })
})

it('finds documents with the word vectors of a local model', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-model-'))
  const model = join(folder, 'tiny')
  mkdirSync(model)
  const filler = Array.from({ length: 200 }, (_, at) => `w${at} 0.1 0.1`)
  const words = [...ANIMALS.map((word) => `${word} 1 0`), ...MONEY.map((word) => `${word} 0 1`)]
  writeFileSync(join(model, 'vectors.txt'), ['206 2', ...filler, ...words].join('\n'))
  const app = await startApp({ env: { RAG_MODEL_DIR: model } })
  const acme = await app.tenant('acme')
  const made = await acme.post(`${PATH}/collections/acme.test`, { name: 'All' })
  expect(made.body.data.embedding_model).toBe('local:tiny')
  await acme.post(`${PATH}/documents/${made.body.data.collection_id}`, {
    documents: [
      { id: 'cat', content: 'a cat' },
      { id: 'bill', content: 'a bill' },
    ],
  })
  const { body } = await acme.post(`${PATH}/search`, { query: 'kitten' })
  expect(body.data.mode).toBe('local_model')
  expect(body.data.results.map((one: { document_id: string }) => one.document_id)).toEqual(['cat'])
  await app.stop()
  rmSync(folder, { recursive: true, force: true })
})
