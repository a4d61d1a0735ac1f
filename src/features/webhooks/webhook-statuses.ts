import { Unprocessable } from '../../errors.ts'

export const DELIVERY_STATUSES = [
  'pending',
  'delivered',
  'failed',
  'retrying',
  'abandoned',
] as const

export const DEAD_LETTER_STATUSES = ['pending', 'retrying', 'resolved', 'abandoned'] as const

/** Reads the status of a filter, in upper or lower case. */
export function readStatus<Status extends string>(
  sent: string | undefined,
  statuses: readonly Status[],
): Status | undefined {
  if (sent === undefined) return undefined
  const status = statuses.find((one) => one === sent.toLowerCase())
  if (!status) throw new Unprocessable(`status must be one of ${statuses.join(', ')}`)
  return status
}
