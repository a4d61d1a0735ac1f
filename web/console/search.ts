import type { Command } from '../ui/palette.tsx'
import { api } from './api.ts'
import { t } from './words.ts'

const FOUND = 8
const CORRELATION_ID = /^[\w-]{20,64}$/

/** The rows that the command palette finds beside the screens. */
export async function search(text: string): Promise<Command[]> {
  const found = encodeURIComponent(text)
  const traced = text.includes('@')
    ? [
        text.startsWith('<')
          ? { title: text, to: `/console/trace/${found}`, kind: t.message }
          : { title: text, to: `/console/trace?recipient=${found}`, kind: t.mailTo },
      ]
    : []
  const { items } = await api.get('/organizations/', { query: { q: text, per_page: FOUND } })
  const organizations = items.map(({ id, name }) => ({
    title: name,
    to: `/console/organizations/${encodeURIComponent(id)}`,
    kind: t.organization,
  }))
  const requests = CORRELATION_ID.test(text)
    ? [{ title: text, to: `/console/logs?correlation_id=${found}`, kind: t.request }]
    : []
  return [...traced, ...requests, ...organizations]
}
