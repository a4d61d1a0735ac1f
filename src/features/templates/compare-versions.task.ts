import { type DiffLine, lineDiff } from './line-diff.ts'

export const COMPARED = ['subject_template', 'html_content', 'plaintext_content'] as const

export type Texts = Record<(typeof COMPARED)[number], string>
export type Comparison = Record<(typeof COMPARED)[number], DiffLine[]>

/** Compares two versions of a template line by line. */
export default ({ before, after }: { before: Texts; after: Texts }): Comparison =>
  Object.fromEntries(
    COMPARED.map((field) => [field, lineDiff(before[field], after[field])]),
  ) as Comparison
