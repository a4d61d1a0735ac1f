/** One figure of the table that `npm run bench:cluster` prints. */
export interface ClusterRow {
  what: string
  value: string
  /** The value to reach, in words; shown beside it. */
  aim?: string
}
