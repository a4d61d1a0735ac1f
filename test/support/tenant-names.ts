import { ulid } from '../../src/lib/ulid.ts'
import type { Place, Route } from './references.ts'
import type { Tenant } from './two-tenants.ts'

/** Names of a resource: the caller's own, and each form of a foreign one. */
export interface Named {
  own(): string
  /** A resource of another tenant, and one that does not exist. */
  foreign: (() => [existing: string, absent: string])[]
}

/** Names of plain text fields, which refer to no resource. */
const PLAIN = new Set(
  `action action_taken active address admin_email after admin_name allowed_countries allowed_ips
  applies_to_countries auto_reply_message backup_id blocked_countries brand_name checksum
  current_password cursor
  client_ip consent_type content correlation_id created_by custom_css custom_domain date_from
  date_to description direction dkim_selector embedding_model enabled_fields end end_date
  error_contains error_message event_id event_source event_type event_types exclude_folders expires_at
  doveadm_url export_type favicon_url feedback_type folder footer_html full_name granularity hostname html
  index_schedule ip_address level local_part login_page_html logo_url message message_id name
  new_password overlap_seconds password patterns period_type phone_numbers plan_name position prefix
  primary_color provider q query queue_name redirect_uris reason recipient recipients replace report_type
  requested_by resource_type s secondary_color secret sender sending_profile service severity
  signing_secret since sort_by sort_dir source_host source_password source_username split start
  start_date status step storage_path subject suffix support_email support_url suppression_type
  target target_host target_password target_type target_username text timezone to token url user_agent user_email
  certificate cipher encrypted_message expire_date key key_type new_passphrase passphrase pkcs12
  signature
  bcc cc content_id content_type filename html_content new_name plaintext_content reply_to
  subject_template variables vacation_message value vcard violation_type webhook_secret webhook_url webhook_urls url_domain`.split(
    /\s+/,
  ),
)

export type Names = ReturnType<typeof tenantNames>

/** Every name of a resource of two tenants and of an operator. */
export function tenantNames(
  own: Tenant,
  other: Tenant,
  operator: { id: string; sessionId: string; email: string },
) {
  const byId = (of: (tenant: Tenant) => string): Named => ({
    own: () => of(own),
    foreign: [() => [of(other), ulid()]],
  })
  // A free address at the same domain must look like a taken one.
  const addresses = (of: (tenant: Tenant) => string): Named['foreign'] => [
    () => [of(other), `nobody@${other.domain}`],
    () => [of(other).toUpperCase(), 'NOBODY@NOWHERE.TEST'],
  ]
  const byAddressOrId = (of: (tenant: Tenant) => [id: string, address: string]): Named => ({
    own: () => of(own)[1],
    foreign: [() => [of(other)[0], ulid()], ...addresses((tenant) => of(tenant)[1])],
  })
  /** Resources that no tenant has. */
  const ofOperators = (existing: string): Named => ({
    own: () => 'none',
    foreign: [() => [existing, ulid()]],
  })

  let count = 0
  const newName = () => `new-${++count}`
  const newDomain = () => `${newName()}.test`
  const newAddress = () => `${newName()}@${own.domain}`
  const externalId = (kind: keyof Tenant['externalIds']): Named => ({
    own: newName,
    foreign: [() => [other.externalIds[kind], newName()]],
  })

  const mailbox = byAddressOrId(({ account }) => [account.id, account.email])
  const ofMailbox = { ...mailbox, foreign: mailbox.foreign.slice(1) }
  const newMailbox = { own: newAddress, foreign: addresses(({ account }) => account.email) }
  const alias = byAddressOrId(({ alias: { id, source } }) => [id, source])
  const domain: Named = {
    own: () => own.domain,
    foreign: [
      () => [other.domain, 'nowhere.test'],
      () => [other.domain.toUpperCase(), 'NOWHERE.TEST'],
      () => [other.secondDomain.domain, 'mail.nowhere.test'],
    ],
  }
  const domainOrId: Named = {
    ...domain,
    foreign: [...domain.foreign, () => [other.domainId, ulid()]],
  }

  const certificate = byId(({ certificateFingerprint }) => certificateFingerprint)

  // Keyed by the whole route, by the first part of its path, or by the name alone.
  const names: Record<string, Named> = {
    account_id: byId(({ account }) => account.id),
    alias_id: alias,
    channel_id: ofOperators('none'),
    channel_ids: ofOperators('none'),
    service_name: ofOperators('api'),
    services: ofOperators('api'),
    client_ip: ofOperators('203.0.113.9'),
    audit_id: { own: () => '1', foreign: [() => ['1', '999999999']] },
    dead_letter_id: ofOperators(other.deadLetterId),
    dead_letter_ids: ofOperators(other.deadLetterId),
    client_id: byId(({ clientId }) => clientId),
    grant_id: byId(({ grantId }) => grantId),
    app_password_id: ofOperators('none'),
    'oauth email': ofMailbox,
    delivery_id: byId(({ deliveryId }) => deliveryId),
    entry_id: byId(({ entryId }) => entryId),
    endpoint_id: byId(({ endpoint }) => endpoint.id),
    custodians: mailbox,
    collection_id: byId(({ collectionId }) => collectionId),
    credential_id: byId(({ credential }) => credential.id),
    destination: mailbox,
    domain,
    domain_id: byId(({ domainId }) => domainId),
    email: newMailbox,
    email_account_id: mailbox,
    export_id: ofOperators(ulid()),
    email_id: byId(({ trackedEmailId }) => trackedEmailId),
    emails: newMailbox,
    forward_destination: { ...mailbox, foreign: mailbox.foreign.slice(1) },
    feedback_id: ofOperators('none'),
    archive_id: byId(({ archiveId }) => archiveId),
    archive_job_id: byId(({ archiveJobId }) => archiveJobId),
    job_id: byId(({ migrationJobId }) => migrationJobId),
    key_id: byId(({ keyId }) => keyId),
    user_id: byId(({ userId }) => userId),
    // Every address may be invited.
    'users email': { own: newAddress, foreign: [] },
    'DELETE /api/v1/platform/backups/hosts/{hostname} hostname': ofOperators('none'),
    hold_id: { own: () => '1', foreign: [() => ['1', '999999999']] },
    login: ofOperators(other.account.email),
    mailbox,
    mailbox_id: mailbox,
    mail_domains: domain,
    member_account_id: mailbox,
    message_id: byId(({ messageId }) => messageId),
    msg_id: ofOperators(other.messageId),
    operator_email: ofOperators(operator.email),
    host_id: ofOperators('none'),
    move_id: ofOperators('none'),
    operator_id: ofOperators(operator.id),
    queue_id: ofOperators('4jRsrS402Bz2R6ll'),
    org_id: byId(({ organizationId }) => organizationId),
    organization_id: byId(({ organizationId }) => organizationId),
    report_id: byId(({ reportId }) => reportId),
    schedule_id: byId(({ scheduleId }) => scheduleId),
    parent_org_id: byId(({ organizationId }) => organizationId),
    quarantine_id: ofOperators(other.quarantineId),
    block_id: ofOperators('none'),
    // Numbers of versions mean something within a template only.
    version: { own: () => '1', foreign: [] },
    template_id: byId(({ templateId }) => templateId),
    // Only an own address may be the sender.
    from: { own: newAddress, foreign: addresses(({ account }) => account.email) },
    'transport-rules rule_id': byId(({ rule }) => rule.id),
    rule_ids: byId(({ rule }) => rule.id),
    selector: ofOperators('default'),
    rule_id: ofOperators(other.ruleId),
    resource_id: ofOperators('none'),
    resource_type: ofOperators('mailbox'),
    'reputation ip_address': ofOperators('203.0.113.9'),
    'security policy_id': ofOperators(other.policyId),
    'PUT /api/v1/security/dlp/policies/{policy_id} policy_id': ofOperators('1'),
    'DELETE /api/v1/security/dlp/policies/{policy_id} policy_id': ofOperators('1'),
    'GET /api/v1/security/dlp/violations policy_id': ofOperators('1'),
    session_id: ofOperators(operator.sessionId),
    source: { own: newAddress, foreign: addresses(({ alias: { source } }) => source) },
    source_email: ofMailbox,
    target_email: ofMailbox,
    target_id: ofOperators(operator.id),
    user_email: { ...mailbox, foreign: mailbox.foreign.slice(1) },
    violation_id: ofOperators('1'),
    username: { own: newName, foreign: [() => [other.credential.username, newName()]] },
    // The e-mail address in the query decides the owner.
    'filters name': { own: () => 'none', foreign: [] },
    'filters email': mailbox,
    'caldav email': { ...mailbox, foreign: mailbox.foreign.slice(1) },
    email_addresses: { own: newAddress, foreign: [] },
    'aliases []': alias,
    'aliases items': alias,
    'aliases destination': { ...mailbox, foreign: mailbox.foreign.slice(1) },
    'domains []': domainOrId,
    'domains items': domainOrId,
    'domains external_id': externalId('domain'),
    'mailboxes []': mailbox,
    'mailboxes items': mailbox,
    'mailboxes external_id': externalId('account'),
    'organizations external_id': externalId('organization'),
    'organizations id': byId(({ organizationId }) => organizationId),
    fingerprint: byId(({ fingerprint }) => fingerprint),
    'GET /api/v1/encryption/smime/certs/{fingerprint} fingerprint': certificate,
    'DELETE /api/v1/encryption/smime/certs/{fingerprint} fingerprint': certificate,
    'POST /api/v1/encryption/smime/certs/{fingerprint}/prefer fingerprint': certificate,
    'encryption job_id': ofOperators('none'),
    recipient_email: ofMailbox,
    sender_email: ofMailbox,
    'url-protection entry': { own: newDomain, foreign: [] },
    // Document ids are free within a collection.
    'rag id': { own: newName, foreign: [] },
    'rate-limiter email': { ...mailbox, foreign: mailbox.foreign.slice(1) },
    'queue ids': ofOperators('4jRsrS402Bz2R6ll'),
    'storage entity_type': { own: () => 'organization', foreign: [] },
    'storage identifier': byId(({ organizationId }) => organizationId),
    'rate-limiter identifier': byId(({ organizationId }) => organizationId),
    // The name of a folder.
    'migration source': { own: () => 'INBOX', foreign: [] },
    'shared-mailboxes mailbox_id': byId(({ shared }) => shared.id),
    // Not a domain that an alias of the caller points to: it would look like an echo.
    'GET /api/v1/aliases/get/{alias_id} domain': {
      own: () => own.domain,
      foreign: [() => [other.domain, 'elsewhere.invalid']],
    },
    'POST /api/v1/domains/ domain': {
      own: newDomain,
      foreign: [() => [other.domain, newDomain()]],
    },
  }

  return {
    of: ({ route, path }: Pick<Route, 'route' | 'path'>, name: string): Named | undefined =>
      names[`${route} ${name}`] ?? names[`${path.split('/')[3]} ${name}`] ?? names[name],
  }
}

/** Returns whether a location can contain a reference; a path parameter always does. */
export const mayRefer = ({ where, name }: Place): boolean => where === 'path' || !PLAIN.has(name)

/** Names without an entry above. */
export const unknownNames = (names: Names, routes: Route[]): string[] =>
  routes.flatMap((route) =>
    route.places
      .filter((place) => mayRefer(place) && !names.of(route, place.name))
      .map(({ name }) => `${route.route}: ${name}`),
  )
