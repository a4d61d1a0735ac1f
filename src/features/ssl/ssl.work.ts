import type { Core } from '../../core.ts'
import type { ServiceWork } from '../feature.ts'
import { certificateAuthority } from './acme/certificate-authority.ts'
import { obtainCertificates } from './acme/obtain.ts'
import { orderRenewals } from './acme/renewals.ts'
import { inventory } from './inventory/inventory.ts'

export const sslWork = (core: Core, stopping: AbortSignal): ServiceWork => ({
  jobs: [orderRenewals(core.config, inventory(core))],
  chores: [obtainCertificates(certificateAuthority(core.config), stopping)],
})
