import type { Screen } from '../lib/router.tsx'
import * as icons from '../ui/icons.ts'
import { later } from '../ui/later.tsx'
import { Alerts } from './alerts/alerts.tsx'
import { Channels } from './alerts/channels.tsx'
import { Rules } from './alerts/rules.tsx'
import { t as alerts } from './alerts/words.ts'
import { Audit } from './audit/audit.tsx'
import { Entry } from './audit/entry.tsx'
import { t as audit } from './audit/words.ts'
import { DeadLetters } from './dead-letters/dead-letters.tsx'
import { t as deadLetters } from './dead-letters/words.ts'
import { Domain } from './domains/domain.tsx'
import { Domains } from './domains/domains.tsx'
import { t as domains } from './domains/words.ts'
import { Logs } from './logs/logs.tsx'
import { t as logs } from './logs/words.ts'
import { MailHosts } from './mail-hosts/mail-hosts.tsx'
import { Moves } from './mail-hosts/moves.tsx'
import { t as mailHosts } from './mail-hosts/words.ts'
import { OneOperator } from './operators/operator.tsx'
import { Operators } from './operators/operators.tsx'
import { t as operators } from './operators/words.ts'
import { OrganizationKeys } from './organization/keys.tsx'
import { Organization } from './organization/organization.tsx'
import { OrganizationDomains, OrganizationMailboxes } from './organization/parts.tsx'
import { OrganizationUsers } from './organization/users.tsx'
import { t as organization } from './organization/words.ts'
import { Organizations } from './organizations/organizations.tsx'
import { t as organizations } from './organizations/words.ts'
import { Overview } from './overview/overview.tsx'
import { t as overview } from './overview/words.ts'
import { Quarantine } from './quarantine/quarantine.tsx'
import { t as quarantine } from './quarantine/words.ts'
import { Queue } from './queue/queue.tsx'
import { t as queue } from './queue/words.ts'
import { ReputationDomain } from './reputation/domain.tsx'
import { ReputationDomains } from './reputation/domains.tsx'
import { Feedback } from './reputation/feedback.tsx'
import { ReputationIps } from './reputation/ips.tsx'
import { Limits } from './reputation/limits.tsx'
import { Reputation } from './reputation/summary.tsx'
import { WarmUps } from './reputation/warm-ups.tsx'
import { t as reputation } from './reputation/words.ts'
import { Resellers } from './resellers/resellers.tsx'
import { t as resellers } from './resellers/words.ts'
import { Blocks } from './security/blocks.tsx'
import { Countries } from './security/countries.tsx'
import { DlpPolicies } from './security/dlp-policies.tsx'
import { DlpViolations } from './security/dlp-violations.tsx'
import { IpRules } from './security/ip-rules.tsx'
import { SignIns } from './security/sign-ins.tsx'
import { t as security } from './security/words.ts'
import { Services } from './services/services.tsx'
import { t as services } from './services/words.ts'
import { Sessions } from './sessions/sessions.tsx'
import { t as sessions } from './sessions/words.ts'
import { Storage } from './storage/storage.tsx'
import { t as storage } from './storage/words.ts'
import { Suppressions } from './suppressions/suppressions.tsx'
import { t as suppressions } from './suppressions/words.ts'
import { t as titles } from './titles.words.ts'
import { Message } from './trace/message.tsx'
import { Trace } from './trace/trace.tsx'
import { t as trace } from './trace/words.ts'
import { t } from './words.ts'

const onDemand = later(() => import('./later.tsx'))

export const groups = [
  { name: 'home' },
  { name: 'tenants', title: t.groups.tenants },
  { name: 'mail', title: t.groups.mail },
  { name: 'security', title: t.groups.security },
  { name: 'system', title: t.groups.system },
  { name: 'people', title: t.groups.people },
]

/** One line for each screen, in the order of the navigation. See docs/web.md. */
export const screens: readonly Screen[] = [
  { path: '/console', title: overview.title, page: Overview, nav: 'home', icon: icons.home },
  {
    path: '/console/organizations',
    title: organizations.title,
    page: Organizations,
    nav: 'tenants',
    icon: icons.building,
  },
  {
    path: '/console/organizations/:organization_id',
    title: organization.one,
    page: Organization,
  },
  {
    path: '/console/organizations/:organization_id/domains',
    title: organization.domains,
    page: OrganizationDomains,
  },
  {
    path: '/console/organizations/:organization_id/mailboxes',
    title: organization.mailboxes,
    page: OrganizationMailboxes,
  },
  {
    path: '/console/organizations/:organization_id/users',
    title: organization.users,
    page: OrganizationUsers,
  },
  {
    path: '/console/organizations/:organization_id/keys',
    title: organization.keys,
    page: OrganizationKeys,
  },
  {
    path: '/console/domains',
    title: domains.title,
    page: Domains,
    nav: 'tenants',
    icon: icons.globe,
  },
  { path: '/console/domains/:domain_id', title: domains.one, page: Domain },
  {
    path: '/console/resellers',
    title: resellers.title,
    page: Resellers,
    nav: 'tenants',
    icon: icons.people,
    level: 'admin',
  },
  {
    path: '/console/white-label',
    title: titles.whiteLabel,
    page: onDemand((parts) => parts.WhiteLabel),
    nav: 'tenants',
    icon: icons.plane,
    level: 'admin',
  },
  {
    path: '/console/white-label/:organization_id',
    title: titles.brand,
    page: onDemand((parts) => parts.Brand),
    level: 'admin',
  },
  {
    path: '/console/security',
    title: security.area,
    page: SignIns,
    nav: 'security',
    icon: icons.shield,
    level: 'operator',
  },
  {
    path: '/console/security/blocks',
    title: security.blocks,
    page: Blocks,
    level: 'operator',
  },
  {
    path: '/console/security/ip-rules',
    title: security.ipRules,
    page: IpRules,
    level: 'operator',
  },
  {
    path: '/console/security/countries',
    title: security.countries,
    page: Countries,
    level: 'operator',
  },
  {
    path: '/console/security/dlp-policies',
    title: security.policies,
    page: DlpPolicies,
    level: 'operator',
  },
  {
    path: '/console/security/dlp-violations',
    title: security.violations,
    page: DlpViolations,
    level: 'operator',
  },
  {
    path: '/console/compliance',
    title: titles.compliance,
    page: onDemand((parts) => parts.Person),
    nav: 'security',
    icon: icons.file,
    level: 'admin',
  },
  {
    path: '/console/compliance/holds',
    title: titles.holds,
    page: onDemand((parts) => parts.Holds),
    level: 'admin',
  },
  {
    path: '/console/compliance/retention',
    title: titles.retention,
    page: onDemand((parts) => parts.Retention),
    level: 'admin',
  },
  {
    path: '/console/certificates',
    title: titles.certificates,
    page: onDemand((parts) => parts.Certificates),
    nav: 'system',
    icon: icons.lock,
  },
  {
    path: '/console/backups',
    title: titles.backups,
    page: onDemand((parts) => parts.Backups),
    nav: 'system',
    icon: icons.archive,
    level: 'admin',
  },
  {
    path: '/console/storage',
    title: storage.title,
    page: Storage,
    nav: 'system',
    icon: icons.server,
  },
  { path: '/console/trace', title: trace.title, page: Trace, nav: 'mail', icon: icons.search },
  { path: '/console/trace/:msg_id', title: trace.one, page: Message },
  {
    path: '/console/quarantine',
    title: quarantine.title,
    page: Quarantine,
    nav: 'mail',
    icon: icons.archive,
  },
  { path: '/console/queue', title: queue.title, page: Queue, nav: 'mail', icon: icons.clock },
  {
    path: '/console/reputation',
    title: reputation.title,
    page: Reputation,
    nav: 'mail',
    icon: icons.chart,
  },
  { path: '/console/reputation/domains', title: reputation.domains, page: ReputationDomains },
  { path: '/console/reputation/domains/:domain', title: reputation.one, page: ReputationDomain },
  { path: '/console/reputation/ips', title: reputation.ips, page: ReputationIps },
  { path: '/console/reputation/feedback', title: reputation.feedback, page: Feedback },
  { path: '/console/reputation/warm-ups', title: reputation.warmUps, page: WarmUps },
  { path: '/console/reputation/limits', title: reputation.limits, page: Limits },
  {
    path: '/console/suppressions',
    title: suppressions.title,
    page: Suppressions,
    nav: 'mail',
    icon: icons.ban,
  },
  {
    path: '/console/dead-letters',
    title: deadLetters.title,
    page: DeadLetters,
    nav: 'system',
    icon: icons.webhook,
  },
  {
    path: '/console/services',
    title: services.title,
    page: Services,
    nav: 'system',
    icon: icons.server,
  },
  {
    path: '/console/mail-hosts',
    title: mailHosts.title,
    page: MailHosts,
    nav: 'system',
    icon: icons.inbox,
  },
  { path: '/console/mail-hosts/moves', title: mailHosts.moves, page: Moves },
  {
    path: '/console/alerts',
    title: alerts.title,
    page: Alerts,
    nav: 'system',
    icon: icons.alert,
  },
  { path: '/console/alerts/rules', title: alerts.rules, page: Rules },
  { path: '/console/alerts/channels', title: alerts.channels, page: Channels },
  { path: '/console/logs', title: logs.title, page: Logs, nav: 'system', icon: icons.file },
  {
    path: '/console/operators',
    title: operators.title,
    page: Operators,
    nav: 'people',
    icon: icons.people,
    level: 'owner',
  },
  {
    path: '/console/operators/:operator_id',
    title: operators.one,
    page: OneOperator,
    level: 'owner',
  },
  {
    path: '/console/sessions',
    title: sessions.title,
    page: Sessions,
    nav: 'people',
    icon: icons.lock,
    level: 'owner',
  },
  { path: '/console/audit', title: audit.title, page: Audit, nav: 'people', icon: icons.list },
  { path: '/console/audit/:audit_id', title: audit.one, page: Entry },
  {
    path: '/console/deleted-mailboxes',
    title: titles.deletedMailboxes,
    page: onDemand((parts) => parts.DeletedMailboxes),
    nav: 'tenants',
    icon: icons.inbox,
  },
  {
    path: '/console/provisioning-failures',
    title: titles.provisioning,
    page: onDemand((parts) => parts.Provisioning),
    nav: 'tenants',
    icon: icons.gear,
  },
  {
    path: '/console/blocked-senders',
    title: titles.blockedSenders,
    page: onDemand((parts) => parts.BlockedSenders),
    nav: 'mail',
    icon: icons.ban,
  },
  {
    path: '/console/archive',
    title: titles.archive,
    page: onDemand((parts) => parts.Archive),
    nav: 'mail',
    icon: icons.archive,
    capability: 'archive',
  },
  {
    path: '/console/account',
    title: titles.account,
    page: onDemand((parts) => parts.Account),
    nav: 'people',
    icon: icons.gear,
  },
]
