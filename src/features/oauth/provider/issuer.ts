import { publicUrl } from '../../../config/index.ts'
import type { Core } from '../../../core.ts'

/** The address that programs know the service by. */
export const issuerOf = ({ config }: Pick<Core, 'config'>): URL =>
  new URL(new URL(config.OAUTH_ISSUER ?? publicUrl(config)).origin)
