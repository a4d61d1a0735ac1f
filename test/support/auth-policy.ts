import { edgeSecrets } from '../../src/edge/settings-of.ts'
import { type App, startApp } from './app.ts'

export const ALICE = 'admin@acme.test'

/** Starts an app that blocks an IP after eight failures, with the tenant acme. */
export async function startAuthPolicy() {
  const app = await startApp({
    limiting: true,
    env: {
      AUTH_POLICY_EXEMPT: '10.9.0.0/16',
      MAX_AUTH_FAILURES_PER_IP: '8',
      MAX_AUTH_FAILURES_PER_ACCOUNT: '1000',
    },
  })
  return { app, acme: await app.tenant('acme') }
}

/** Sends a request to the auth policy server like Dovecot. */
export async function ask({ core, limiter }: App, command: string, body: object) {
  const port = limiter.policy.ports.auth
  const response = await fetch(`http://127.0.0.1:${port}/auth-policy?command=${command}`, {
    method: 'POST',
    headers: { 'x-edge-key': edgeSecrets(core.vault).policyKey },
    body: JSON.stringify({ device_id: '', pwhash: '0dcf', session_id: 'x', tls: true, ...body }),
  })
  return { code: response.status, ...((await response.json()) as { status: number; msg: string }) }
}

/** Logins over IMAP; the login and the IP address of the client have defaults. */
export const logins = (app: () => App, ip: () => string) => {
  const report = (success: boolean, login = ALICE, remote = ip(), more: object = {}) =>
    ask(app(), 'report', {
      login,
      remote,
      protocol: 'imap',
      success,
      policy_reject: false,
      ...more,
    })
  return {
    report,
    allow: (login = ALICE, remote = ip(), protocol = 'imap') =>
      ask(app(), 'allow', { login, remote, protocol }),
    async fail(times: number, login = ALICE, remote = ip()) {
      for (let i = 0; i < times; i++) await report(false, login, remote)
    },
    /** The stored failures of a client. */
    async rows(remote = ip()) {
      await app().limiter.flush()
      return app()
        .core.db.selectFrom('failed_auth_attempts')
        .selectAll()
        .where('client_ip', '=', remote)
        .orderBy('username')
        .execute()
    },
    /** The events about logins of a client. */
    async events(remote = ip()) {
      await app().limiter.flush()
      const found = await app()
        .core.db.selectFrom('events')
        .select(['event', 'org_id', 'domain', 'data'])
        .where('source', 'in', ['dovecot', 'postfix'])
        .orderBy('sequence')
        .execute()
      return found.filter(({ data }) => (data as { ip_address: string }).ip_address === remote)
    },
  }
}
