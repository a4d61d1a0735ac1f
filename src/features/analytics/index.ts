import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { analyticsRoutes } from './analytics.routes.ts'
import { analyticsService } from './analytics.service.ts'
import { reportRoutes } from './reports/reports.routes.ts'
import { reportService } from './reports/reports.service.ts'

export function analytics(core: Core): Feature {
  const service = analyticsService(core)
  const reports = reportService({ ...core, analytics: service })
  return {
    prefix: '/api/v1/analytics',
    isPatient: true,
    capabilities: [
      'analytics',
      'analytics_engagement',
      'analytics_reports',
      'reports',
      'report_schedules',
    ],
    routes: async (app) => {
      await app.register(analyticsRoutes(service))
      await app.register(reportRoutes(reports), { prefix: '/reports' })
    },
  }
}
