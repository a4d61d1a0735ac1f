/** One figure of the table that `npm run bench:content` prints. */
export interface ContentRow {
  what: string
  value: string
  /** The value to reach, in words; shown beside it. */
  aim?: string
}
