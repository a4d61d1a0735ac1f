import type { Static } from 'typebox'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { DomainNotFound } from '../../domains/domains.errors.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { type Mode, modelOf, modeOf } from '../embedding/embedder.ts'
import { isPrivateEndpoint } from '../embedding/endpoint.ts'
import { InvalidConfiguration } from '../rag.errors.ts'
import { FIELDS, type NewSettings } from '../rag.schemas.ts'
import { isSchedule, nextTime } from './schedule.ts'
import * as settings from './settings.repository.ts'

export type Settings = settings.SettingsRow & { organization_id: string }
type Sent = Static<typeof NewSettings>
type Field = (typeof FIELDS)[number]

const DEFAULTS = {
  enabled: true,
  enabled_fields: [...FIELDS] as string[],
  chunk_size: 1000,
  chunk_overlap: 200,
  embedding_provider: null,
  privacy_mode: true,
  auto_index: false,
  index_schedule: '0 * * * *',
  max_documents: 1_000_000,
  next_run_at: null,
}

/** The settings of an organization, or the defaults. */
export async function settingsOf(db: Db, organizationId: string, now: Date): Promise<Settings> {
  const row = await settings.find(db, organizationId)
  return {
    organization_id: organizationId,
    ...(row ?? { ...DEFAULTS, updated_at: now.toISOString() }),
  }
}

export type SettingsService = ReturnType<typeof settingsService>

export function settingsService({
  change,
  config,
  db,
  now,
}: Pick<Core, 'change' | 'config' | 'db' | 'now'>) {
  async function findDomain({ scope }: Pick<Caller, 'scope'>, name: string) {
    const domain = await settings.findDomain(db, scope, toDomainName(name) ?? '')
    if (!domain) throw new DomainNotFound()
    return domain
  }
  async function findOrganization({ scope }: Pick<Caller, 'scope'>, id: string) {
    if (!(await settings.findOrganization(db, scope, id))) throw new OrganizationNotFound()
    return id
  }

  async function describe(organizationId: string) {
    const row = await settingsOf(db, organizationId, now())
    const mode = modeOf(config, row)
    return {
      ...row,
      enabled_fields: row.enabled_fields as Field[],
      embedding_provider: providerOf(mode, row.embedding_provider),
      embedding_model: modelOf(config, mode),
      mode,
      mail_domains: (await settings.mailDomains(db, organizationId)).map(({ domain }) => domain),
      next_scheduled_at: row.next_run_at,
    }
  }

  async function replace(
    caller: Caller,
    organizationId: string,
    sent: Sent,
    mailDomains?: string[],
  ) {
    const row = { ...DEFAULTS, ...validated(sent) }
    const next = row.auto_index ? nextTime(row.index_schedule, now()) : undefined
    await change(caller, async (tx) => {
      await settings.replace(tx, organizationId, {
        ...row,
        next_run_at: next?.toISOString() ?? null,
      })
      if (mailDomains === undefined) return
      const before = (await settings.mailDomains(tx, organizationId)).map(({ id }) => id)
      const removed = before.filter((id) => !mailDomains.includes(id))
      if (removed.length > 0) await settings.forbidMail(tx, organizationId, removed)
      if (mailDomains.length > 0) await settings.allowMail(tx, organizationId, mailDomains)
    })
    return describe(organizationId)
  }

  /** Checks the rules that the schema cannot express. */
  function validated({ mail_domains: _, embedding_model: model, ...sent }: Sent) {
    const unknown = sent.enabled_fields.find((field) => !FIELDS.includes(field as Field))
    if (unknown !== undefined) {
      throw new InvalidConfiguration(
        `enabled_fields has the unknown field "${unknown}"; use ${FIELDS.join(', ')}`,
      )
    }
    const size = sent.chunk_size ?? DEFAULTS.chunk_size
    const overlap = sent.chunk_overlap ?? DEFAULTS.chunk_overlap
    if (overlap >= size) {
      throw new InvalidConfiguration(
        `chunk_overlap (${overlap}) must be below chunk_size (${size})`,
      )
    }
    if (sent.index_schedule !== undefined && !isSchedule(sent.index_schedule)) {
      throw new InvalidConfiguration(
        `index_schedule "${sent.index_schedule}" is not a cron schedule with five fields, such as "0 * * * *"`,
      )
    }
    const wishes = {
      embedding_provider: sent.embedding_provider ?? null,
      privacy_mode: sent.privacy_mode ?? DEFAULTS.privacy_mode,
    }
    checkProvider(wishes)
    const available = modelOf(config, modeOf(config, wishes))
    if (model !== undefined && model !== available) {
      throw new InvalidConfiguration(
        `embedding_model "${model}" is not available; this installation has ${available}`,
      )
    }
    return { ...sent, enabled_fields: [...new Set(sent.enabled_fields)] }
  }

  function checkProvider(wishes: { embedding_provider: string | null; privacy_mode: boolean }) {
    const { embedding_provider: provider, privacy_mode: isPrivate } = wishes
    if (provider === null || provider === 'lexical') return
    if (provider === 'sentence_transformers') {
      if (config.RAG_MODEL_DIR !== undefined) return
      throw new InvalidConfiguration(
        'embedding_provider "sentence_transformers" needs a model, and this installation has none; it has lexical',
      )
    }
    const url = config.RAG_EMBEDDINGS_URL
    if (url === undefined) {
      throw new InvalidConfiguration(
        `embedding_provider "${provider}" needs an embeddings endpoint, and this installation has none`,
      )
    }
    if (isPrivate && !isPrivateEndpoint(url)) {
      throw new InvalidConfiguration(
        `embedding_provider "${provider}" would send text to another company; privacy_mode refuses that`,
      )
    }
  }

  return {
    findDomain,
    findOrganization,
    settingsOf: (organizationId: string) => settingsOf(db, organizationId, now()),

    async ofOrganization(caller: Caller, id: string) {
      return describe(await findOrganization(caller, id))
    },

    async ofDomain(caller: Caller, name: string) {
      const { id, organization_id, domain } = await findDomain(caller, name)
      const index_mail = await settings.isMailAllowed(db, id)
      return { ...(await describe(organization_id)), domain, index_mail }
    },

    async replaceOfOrganization(caller: Caller, id: string, sent: Sent) {
      await findOrganization(caller, id)
      const own = { scope: { organization: id } }
      const ids = []
      for (const name of sent.mail_domains ?? []) ids.push((await findDomain(own, name)).id)
      return replace(caller, id, sent, sent.mail_domains && [...new Set(ids)])
    },

    /** Sets the configuration of the whole organization; `index_mail` is for this domain only. */
    async replaceOfDomain(
      caller: Caller,
      name: string,
      { index_mail: isAllowed, ...sent }: Sent & { index_mail?: boolean },
    ) {
      const domain = await findDomain(caller, name)
      const before = await settings.mailDomains(db, domain.organization_id)
      const others = before.map(({ id }) => id).filter((id) => id !== domain.id)
      const mailDomains =
        isAllowed === undefined ? undefined : [...others, ...(isAllowed ? [domain.id] : [])]
      const replaced = await replace(caller, domain.organization_id, sent, mailDomains)
      const index_mail = await settings.isMailAllowed(db, domain.id)
      return { ...replaced, domain: domain.domain, index_mail }
    },
  }
}

/** The provider that is used, which may not be the one that was stored when there was another one. */
function providerOf<Provider>(mode: Mode, stored: Provider | null) {
  if (mode === 'lexical') return 'lexical' as const
  if (mode === 'local_model') return 'sentence_transformers' as const
  return stored ?? ('openai' as const)
}
