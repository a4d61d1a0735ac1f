import { expect } from 'vitest'
import type { Client } from './app.ts'

export const PATH = '/api/v1/transport-rules/'

export const subject = (value: string) => ({ field: 'subject', operator: 'contains', value })
export const to = (value: string) => ({ field: 'recipient', operator: 'equals', value })

/** The body of a request for a rule that adds a header. */
export const rule = (more: object = {}) => ({
  name: 'Mark',
  conditions: [subject('offer')],
  actions: [{ type: 'add_header', params: { name: 'X-Offer', value: 'yes' } }],
  ...more,
})

export async function createRule(tenant: Client, more: object = {}) {
  const answer = await tenant.post(PATH, rule(more))
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data
}
