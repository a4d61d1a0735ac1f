import { readConfig } from '../../src/config/index.ts'
import { startCore } from '../../src/core.ts'
import { prepareDataDir } from '../../src/database/data-dir.ts'
import { openDatabase } from '../../src/database/database.ts'
import { startEmbedded } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { collectionId } from '../../src/features/rag/collections/collections.service.ts'
import { webhookQueue } from '../../src/features/webhooks/delivery/enqueue.ts'
import { serviceLog } from '../../src/log.ts'

const ORGANIZATION = 'BENCH'

/**
 * A database with one organization, domain and mailbox, and the services that a process creates
 * once.
 */
export async function startInstallation(folder: string) {
  prepareDataDir(folder)
  const config = readConfig({ DATA_DIR: folder })
  const server = await startEmbedded(folder, () => {})
  const database = openDatabase(server.target, { pool: 2, name: 'bench' })
  await migrate(database.sql)
  const domain = { id: 'domain', collection_id: collectionId(ORGANIZATION, 'bench.test', 'mail') }
  await database.sql`insert into organizations (id, name) values (${ORGANIZATION}, 'bench')`
  await database.sql`
    insert into domains (id, organization_id, domain, ownership_verified_at)
    values (${domain.id}, ${ORGANIZATION}, 'bench.test', now())`
  await database.sql`
    insert into email_accounts (id, organization_id, domain_id, email, password_hash)
    values ('box', ${ORGANIZATION}, ${domain.id}, 'box@bench.test', 'none')`
  await database.sql`
    insert into rag_collections (id, organization_id, domain_id, name, embedding_model)
    values (${domain.collection_id}, ${ORGANIZATION}, ${domain.id}, 'mail', 'lexical')`
  const [made] = await database.sql<{ id: number }[]>`
    insert into rag_folders (organization_id, email_account_id, name, uid_validity)
    values (${ORGANIZATION}, 'box', 'INBOX', 1) returning id`
  const { log, close: closeLog } = serviceLog('bench', config)
  const core = await startCore({
    config,
    log,
    target: server.target,
    listeners: [webhookQueue(config)],
  })
  return {
    core,
    sql: database.sql,
    organizationId: ORGANIZATION,
    domain,
    accountId: 'box',
    folderId: made?.id as number,
    async stop() {
      await core.close()
      await database.close()
      closeLog()
      await server.stop()
    },
  }
}
