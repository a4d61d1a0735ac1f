import type { Screen } from '../lib/router.tsx'
import * as icons from '../ui/icons.ts'
import { t as keyWords } from '../ui/keys.words.ts'
import { later } from '../ui/later.tsx'
import { Account } from './account/account.tsx'
import { t as account } from './account/words.ts'
import { Activity } from './activity/activity.tsx'
import { t as activity } from './activity/words.ts'
import { Aliases } from './aliases/aliases.tsx'
import { t as aliases } from './aliases/words.ts'
import { Analytics } from './analytics/analytics.tsx'
import { t as analytics } from './analytics/words.ts'
import { ApiKeys } from './api-keys/api-keys.tsx'
import { t as apiKeys } from './api-keys/words.ts'
import { Domain } from './domains/domain.tsx'
import { Domains } from './domains/domains.tsx'
import { DomainLimits } from './domains/limits.tsx'
import { DomainSettings } from './domains/settings.tsx'
import { t as domains } from './domains/words.ts'
import { Home } from './home/home.tsx'
import { t as home } from './home/words.ts'
import { MailboxFilters } from './mailboxes/filters/filters.tsx'
import { MailboxLimits } from './mailboxes/limits.tsx'
import { MailboxPage } from './mailboxes/mailbox.tsx'
import { Mailboxes } from './mailboxes/mailboxes.tsx'
import { t as mailboxes } from './mailboxes/words.ts'
import { MessagePage } from './messages/message.tsx'
import { Messages } from './messages/messages.tsx'
import { t as messages } from './messages/words.ts'
import { People } from './people/people.tsx'
import { t as people } from './people/words.ts'
import { RateLimits } from './rate-limits/rate-limits.tsx'
import { t as rateLimits } from './rate-limits/words.ts'
import { SharedMailbox } from './shared-mailboxes/shared-mailbox.tsx'
import { SharedMailboxes } from './shared-mailboxes/shared-mailboxes.tsx'
import { t as shared } from './shared-mailboxes/words.ts'
import { Credential } from './smtp-credentials/credential.tsx'
import { SmtpCredentials } from './smtp-credentials/smtp-credentials.tsx'
import { t as credentials } from './smtp-credentials/words.ts'
import { Suppressions } from './suppressions/suppressions.tsx'
import { t as suppressions } from './suppressions/words.ts'
import { t as titles } from './titles.words.ts'
import { Waiting } from './waiting/waiting.tsx'
import { t as waiting } from './waiting/words.ts'
import { DeadLetters } from './webhooks/dead-letters.tsx'
import { t as deadLetters } from './webhooks/dead-letters.words.ts'
import { Deliveries } from './webhooks/deliveries.tsx'
import { Endpoint } from './webhooks/endpoint.tsx'
import { Webhooks } from './webhooks/webhooks.tsx'
import { t as webhooks } from './webhooks/words.ts'
import { t } from './words.ts'

const onDemand = later(() => import('./later.tsx'))

export const groups = [
  { name: 'home' },
  { name: 'mail', title: t.groups.mail },
  { name: 'sending', title: t.groups.sending },
  { name: 'settings', title: t.groups.settings },
]

/** One line for each screen, in the order of the navigation. See docs/web.md. */
export const screens: readonly Screen[] = [
  { path: '/app', title: home.title, page: Home, nav: 'home', icon: icons.home },
  {
    path: '/app/messages',
    title: messages.title,
    page: Messages,
    nav: 'home',
    icon: icons.search,
    capability: 'messages',
  },
  {
    path: '/app/messages/:message_id',
    title: messages.one,
    page: MessagePage,
    capability: 'messages',
  },
  {
    path: '/app/activity',
    title: activity.title,
    page: Activity,
    nav: 'home',
    icon: icons.list,
    capability: 'activity',
  },
  {
    path: '/app/mailboxes',
    title: mailboxes.title,
    page: Mailboxes,
    nav: 'mail',
    icon: icons.inbox,
  },
  { path: '/app/mailboxes/:account_id', title: mailboxes.one, page: MailboxPage },
  {
    path: '/app/mailboxes/:account_id/filters',
    title: mailboxes.filters,
    page: MailboxFilters,
    capability: 'filters',
  },
  {
    path: '/app/mailboxes/:account_id/limits',
    title: mailboxes.limits,
    page: MailboxLimits,
    capability: 'rate_limits',
  },
  { path: '/app/aliases', title: aliases.title, page: Aliases, nav: 'mail', icon: icons.forward },
  {
    path: '/app/shared-mailboxes',
    title: shared.title,
    page: SharedMailboxes,
    nav: 'mail',
    icon: icons.people,
    capability: 'shared_mailboxes',
  },
  {
    path: '/app/shared-mailboxes/:mailbox_id',
    title: shared.one,
    page: SharedMailbox,
    capability: 'shared_mailboxes',
  },
  { path: '/app/domains', title: domains.title, page: Domains, nav: 'mail', icon: icons.globe },
  { path: '/app/domains/:domain_id', title: domains.one, page: Domain },
  { path: '/app/domains/:domain_id/limits', title: domains.limits, page: DomainLimits },
  {
    path: '/app/domains/:domain_id/settings',
    title: domains.settings,
    page: DomainSettings,
    level: 'write',
  },
  {
    path: '/app/smtp-credentials',
    title: credentials.title,
    page: SmtpCredentials,
    nav: 'sending',
    icon: icons.key,
  },
  { path: '/app/smtp-credentials/:credential_id', title: credentials.one, page: Credential },
  {
    path: '/app/waiting',
    title: waiting.title,
    page: Waiting,
    nav: 'sending',
    icon: icons.clock,
    capability: 'own_queue',
  },
  {
    path: '/app/templates',
    title: titles.templates,
    page: onDemand((parts) => parts.Templates),
    nav: 'sending',
    icon: icons.file,
    capability: 'templates',
  },
  {
    path: '/app/templates/:template_id',
    title: titles.template,
    page: onDemand((parts) => parts.TemplatePage),
    capability: 'templates',
  },
  {
    path: '/app/suppressions',
    title: suppressions.title,
    page: Suppressions,
    nav: 'sending',
    icon: icons.ban,
    capability: 'suppression_list',
  },
  {
    path: '/app/analytics',
    title: analytics.title,
    page: Analytics,
    nav: 'sending',
    icon: icons.chart,
    capability: 'analytics',
  },
  {
    path: '/app/reports',
    title: titles.reports,
    page: onDemand((parts) => parts.Reports),
    nav: 'sending',
    icon: icons.file,
    capability: 'reports',
  },
  {
    path: '/app/reports/:report_id',
    title: titles.report,
    page: onDemand((parts) => parts.ReportPage),
    capability: 'reports',
  },
  {
    path: '/app/search',
    title: titles.search,
    page: onDemand((parts) => parts.Search),
    nav: 'mail',
    icon: icons.search,
    capability: 'rag',
  },
  {
    path: '/app/search/index',
    title: titles.searchIndex,
    page: onDemand((parts) => parts.SearchIndex),
    capability: 'rag',
  },
  {
    path: '/app/archive',
    title: titles.archive,
    page: onDemand((parts) => parts.Archive),
    nav: 'mail',
    icon: icons.archive,
    capability: 'archive',
  },
  {
    path: '/app/links',
    title: titles.links,
    page: onDemand((parts) => parts.Links),
    nav: 'mail',
    icon: icons.shield,
    capability: 'url_protection',
  },
  {
    path: '/app/keys',
    title: titles.keys,
    page: onDemand((parts) => parts.Keys),
    nav: 'mail',
    icon: icons.lock,
    capability: 'encryption',
  },
  {
    path: '/app/keys/certificates',
    title: keyWords.certificates,
    page: onDemand((parts) => parts.Certificates),
    capability: 'encryption',
  },
  {
    path: '/app/transport-rules',
    title: titles.transportRules,
    page: onDemand((parts) => parts.TransportRules),
    nav: 'mail',
    icon: icons.filter,
    capability: 'transport_rules',
  },
  {
    path: '/app/transport-rules/new',
    title: titles.newTransportRule,
    page: onDemand((parts) => parts.NewTransportRule),
    capability: 'transport_rules',
    level: 'write',
  },
  {
    path: '/app/transport-rules/:rule_id',
    title: titles.transportRule,
    page: onDemand((parts) => parts.TransportRulePage),
    capability: 'transport_rules',
  },
  {
    path: '/app/rate-limits',
    title: rateLimits.title,
    page: RateLimits,
    nav: 'sending',
    icon: icons.clock,
    capability: 'rate_limits',
  },
  {
    path: '/app/migration',
    title: titles.migration,
    page: onDemand((parts) => parts.Migration),
    nav: 'mail',
    icon: icons.move,
    capability: 'migration',
  },
  {
    path: '/app/webhooks',
    title: webhooks.title,
    page: Webhooks,
    nav: 'settings',
    icon: icons.webhook,
    capability: 'webhooks',
  },
  {
    path: '/app/webhooks/deliveries',
    title: webhooks.deliveries,
    page: Deliveries,
    capability: 'webhooks',
  },
  {
    path: '/app/webhooks/dead-letters',
    title: deadLetters.title,
    page: DeadLetters,
    capability: 'webhooks',
  },
  {
    path: '/app/webhooks/:endpoint_id',
    title: webhooks.one,
    page: Endpoint,
    capability: 'webhooks',
  },
  {
    path: '/app/people',
    title: people.title,
    page: People,
    nav: 'settings',
    icon: icons.people,
    capability: 'dashboard_users',
  },
  {
    path: '/app/api-keys',
    title: apiKeys.title,
    page: ApiKeys,
    nav: 'settings',
    icon: icons.lock,
    capability: 'self_service_keys',
  },
  { path: '/app/account', title: account.title, page: Account, nav: 'settings', icon: icons.gear },
]
