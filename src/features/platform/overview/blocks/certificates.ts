import type { Block } from './block.ts'

interface Certificates {
  total: number
  expiring_30d: number
  expiring_7d: number
  soonest_expiry_days: number | null
}

/** No certificates are kept yet, so there are none; what keeps them counts them here. */
export const certificates: Block<Certificates> = async () => ({
  total: 0,
  expiring_30d: 0,
  expiring_7d: 0,
  soonest_expiry_days: null,
})
