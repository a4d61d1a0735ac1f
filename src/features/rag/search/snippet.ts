import { MARK_BEGIN, MARK_END } from './results.repository.ts'

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escaped first, marked after: whatever a message holds, the only tag here is ours. */
export const snippetOf = (headline: string): string =>
  headline
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
    .replaceAll(MARK_BEGIN, '<mark>')
    .replaceAll(MARK_END, '</mark>')
