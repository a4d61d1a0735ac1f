import { nothing, type PersonalTable } from './personal-table.ts'

/** A table that says about people only which caller made a row or changed it last. */
const made = (table: string, actors: string, plain: string): PersonalTable => ({
  table,
  personal: '',
  plain,
  actors,
  find: nothing,
  exported: { not: 'settings of the organization or the installation' },
  erased: { keep: 'the rows; the name of the caller is replaced' },
  expired: { never: 'lives as long as what it describes' },
})

/** Tables with the names of dashboard users and operators, and nothing else about people. */
export const tablesOfActors: readonly PersonalTable[] = [
  made('api_keys', 'created_by', 'name permissions scopes'),
  made(
    'domains',
    'quota_override_by',
    'domain description dkim_selector rate_limits storage_quotas rate_usage_data allotted_storage mta_sts_mode mta_sts_problem',
  ),
  made('ip_access_rules', 'created_by', 'ip_address applies_to description'),
  made('mailbox_moves', 'created_by', 'error_message'),
  made('oauth_clients', 'created_by', 'name redirect_uris grant_types scopes'),
  made(
    'template_versions',
    'author',
    'subject_template html_content compiled_html plaintext_content variables',
  ),
  made('url_blocklist', 'created_by', 'entry reason'),
]
