import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { alerts } from './alerts/index.ts'
import { platformAnalyticsRoutes } from './analytics/analytics.routes.ts'
import { platformAnalyticsService } from './analytics/analytics.service.ts'
import { auditRoutes } from './audit/audit.routes.ts'
import { auditService } from './audit/audit.service.ts'
import { operatorAuthRoutes } from './auth/auth.routes.ts'
import { operatorAuthService } from './auth/auth.service.ts'
import { backupsRoutes } from './backups/backups.routes.ts'
import { backupsService } from './backups/backups.service.ts'
import { deletedMailboxRoutes } from './deleted-mailboxes/deleted-mailboxes.routes.ts'
import { deletedMailboxService } from './deleted-mailboxes/deleted-mailboxes.service.ts'
import { logsRoutes } from './logs/logs.routes.ts'
import { logsService } from './logs/logs.service.ts'
import { mailHostRoutes } from './mail-hosts/mail-hosts.routes.ts'
import { mailHostService } from './mail-hosts/mail-hosts.service.ts'
import { moveMailboxes } from './mail-hosts/moves/move-mailboxes.ts'
import { moveRoutes } from './mail-hosts/moves/moves.routes.ts'
import { moveService } from './mail-hosts/moves/moves.service.ts'
import { removeOldCopies } from './mail-hosts/moves/remove-copies.ts'
import { metricsRoutes } from './metrics/metrics.routes.ts'
import { metricsService } from './metrics/metrics.service.ts'
import { operatorRoutes } from './operators/operators.routes.ts'
import { operatorService } from './operators/operators.service.ts'
import { overviewRoutes } from './overview/overview.routes.ts'
import { overviewService } from './overview/overview.service.ts'
import { provision } from './provisioning/provision.ts'
import { provisioningRoutes } from './provisioning/provisioning.routes.ts'
import { provisioningService } from './provisioning/provisioning.service.ts'
import { operatorSessionRoutes } from './sessions/sessions.routes.ts'
import { operatorSessionService } from './sessions/sessions.service.ts'
import { systemMailRoutes } from './system-mail/system-mail.routes.ts'
import { systemMailService } from './system-mail/system-mail.service.ts'

export function platform(core: Core): Feature {
  const operators = operatorService(core)
  const sessions = operatorSessionService({ ...core, operators })
  return {
    prefix: '/api/v1/platform',
    capabilities: ['operator_passwords', 'overview', 'audit', 'alerts', 'metrics_range'],
    chores: [provision, moveMailboxes, removeOldCopies],
    routes: async (app) => {
      await app.register(operatorAuthRoutes(operatorAuthService(core)), { prefix: '/auth' })
      await app.register(operatorRoutes(operators, sessions), { prefix: '/operators' })
      await app.register(operatorSessionRoutes(sessions), { prefix: '/sessions' })
      await app.register(overviewRoutes(overviewService(core)), { prefix: '/overview' })
      await app.register(metricsRoutes(metricsService(core)), { prefix: '/metrics' })
      await app.register(alerts(core), { prefix: '/alerts' })
      await app.register(platformAnalyticsRoutes(platformAnalyticsService(core)), {
        prefix: '/analytics',
      })
      await app.register(auditRoutes(auditService(core)), { prefix: '/audit' })
      await app.register(logsRoutes(logsService(core)), { prefix: '/logs' })
      await app.register(deletedMailboxRoutes(deletedMailboxService(core)), {
        prefix: '/deleted-mailboxes',
      })
      await app.register(mailHostRoutes(mailHostService(core)), { prefix: '/mail-hosts' })
      await app.register(moveRoutes(moveService(core)), { prefix: '/mailbox-moves' })
      await app.register(systemMailRoutes(systemMailService(core)), { prefix: '/system-mail' })
      await app.register(backupsRoutes(backupsService(core)), { prefix: '/backups' })
      await app.register(provisioningRoutes(provisioningService(core)), {
        prefix: '/provisioning-failures',
      })
    },
  }
}
