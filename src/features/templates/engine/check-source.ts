import { MAX_TEMPLATE_BYTES } from './liquid.ts'
import { TemplateProblem } from './template-problem.ts'

/** Parsing takes the longer the more tags there are, and the longer each of them is. */
const MAX_TAGS = 2000
const MAX_TAG_LENGTH = 2000
const TAG = /\{[{%]/g

export const countTags = (text: string): number => text.match(TAG)?.length ?? 0

/** Refuses a template that would take long to parse. */
export function checkSize(field: string, text: string): void {
  const refuse = (why: string) => {
    throw new TemplateProblem('limit', `${field}: ${why}`)
  }
  if (Buffer.byteLength(text) > MAX_TEMPLATE_BYTES) {
    refuse(`more than ${MAX_TEMPLATE_BYTES / 1024} KB`)
  }
  if (countTags(text) > MAX_TAGS) refuse(`more than ${MAX_TAGS} tags`)
  // Ends and beginnings alternate in a well-formed template, so each search goes on from the last one.
  for (const { index } of text.matchAll(TAG)) {
    const end = text.indexOf(text[index + 1] === '{' ? '}}' : '%}', index)
    if (end !== -1 && end - index > MAX_TAG_LENGTH) {
      refuse(`a tag with more than ${MAX_TAG_LENGTH} characters`)
    }
  }
}
