import type { Static } from 'typebox'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { DomainNotFound } from '../../domains/domains.errors.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { modelOf, modeOf } from '../embedding/embedder.ts'
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

/** What an organization has set, or what holds while it has set nothing. */
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

  async function shown(organizationId: string) {
    const found = await settingsOf(db, organizationId, now())
    const mode = modeOf(config, found)
    return {
      ...found,
      enabled_fields: found.enabled_fields as Field[],
      embedding_provider:
        found.embedding_provider ?? (mode === 'embeddings' ? 'openai' : 'sentence_transformers'),
      embedding_model: modelOf(config, mode),
      mode,
      mail_domains: (await settings.mailDomains(db, organizationId)).map(({ domain }) => domain),
      next_scheduled_at: found.next_run_at,
    }
  }

  async function replace(caller: Caller, organizationId: string, sent: Sent, wanted?: string[]) {
    const row = { ...DEFAULTS, ...rulesOf(sent) }
    const next = row.auto_index ? nextTime(row.index_schedule, now()) : undefined
    await change(caller, async (tx) => {
      await settings.replace(tx, organizationId, {
        ...row,
        next_run_at: next?.toISOString() ?? null,
      })
      if (wanted === undefined) return
      const before = (await settings.mailDomains(tx, organizationId)).map(({ id }) => id)
      const gone = before.filter((id) => !wanted.includes(id))
      if (gone.length > 0) await settings.forbidMail(tx, organizationId, gone)
      if (wanted.length > 0) await settings.allowMail(tx, organizationId, wanted)
    })
    return shown(organizationId)
  }

  /** Only what can be refused by looking at it; the shape is the schema's. */
  function rulesOf({ mail_domains: _, embedding_model: model, ...sent }: Sent) {
    const unknown = sent.enabled_fields.find((field) => !FIELDS.includes(field as Field))
    if (unknown !== undefined) {
      throw new InvalidConfiguration(
        `enabled_fields has the unknown field "${unknown}"; there are ${FIELDS.join(', ')}`,
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
        `index_schedule "${sent.index_schedule}" is no schedule of five fields, such as "0 * * * *"`,
      )
    }
    const wishes = {
      embedding_provider: sent.embedding_provider ?? null,
      privacy_mode: sent.privacy_mode ?? DEFAULTS.privacy_mode,
    }
    refuseProvider(wishes)
    const known = modelOf(config, modeOf(config, wishes))
    if (model !== undefined && model !== known) {
      throw new InvalidConfiguration(`embedding_model "${model}" is not there; there is ${known}`)
    }
    return { ...sent, enabled_fields: [...new Set(sent.enabled_fields)] }
  }

  function refuseProvider(wishes: { embedding_provider: string | null; privacy_mode: boolean }) {
    const { embedding_provider: provider, privacy_mode: isPrivate } = wishes
    if (provider === null || provider === 'sentence_transformers') return
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
      return shown(await findOrganization(caller, id))
    },

    async ofDomain(caller: Caller, name: string) {
      const { id, organization_id, domain } = await findDomain(caller, name)
      const index_mail = await settings.isMailAllowed(db, id)
      return { ...(await shown(organization_id)), domain, index_mail }
    },

    async replaceOfOrganization(caller: Caller, id: string, sent: Sent) {
      await findOrganization(caller, id)
      const own = { scope: { organization: id } }
      const found = []
      for (const name of sent.mail_domains ?? []) found.push((await findDomain(own, name)).id)
      return replace(caller, id, sent, sent.mail_domains && [...new Set(found)])
    },

    /** For the whole organization, but for whether the mail of this domain may be indexed. */
    async replaceOfDomain(
      caller: Caller,
      name: string,
      { index_mail: isWanted, ...sent }: Sent & { index_mail?: boolean },
    ) {
      const domain = await findDomain(caller, name)
      const before = await settings.mailDomains(db, domain.organization_id)
      const others = before.map(({ id }) => id).filter((id) => id !== domain.id)
      const wanted =
        isWanted === undefined ? undefined : [...others, ...(isWanted ? [domain.id] : [])]
      const shownNow = await replace(caller, domain.organization_id, sent, wanted)
      const index_mail = await settings.isMailAllowed(db, domain.id)
      return { ...shownNow, domain: domain.domain, index_mail }
    },
  }
}
