import type { Core } from '../../core.ts'
import type { DomainService } from '../domains/domains.service.ts'
import type { Feature } from '../feature.ts'
import { smtpCredentialRoutes } from './smtp-credentials.routes.ts'
import { smtpCredentialService } from './smtp-credentials.service.ts'

export const smtpCredentials = (core: Core, { domains }: { domains: DomainService }): Feature => ({
  prefix: '/api/v1/smtp-credentials',
  routes: smtpCredentialRoutes(smtpCredentialService({ ...core, domains })),
  capabilities: ['smtp_credentials'],
})
