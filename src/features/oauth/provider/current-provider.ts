import type Provider from 'oidc-provider'
import type { Core } from '../../../core.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { signingKeys } from './signing-keys.ts'

type Needs = Pick<Core, 'authCache' | 'config' | 'db' | 'log' | 'now' | 'vault'>

export interface Current {
  provider: Provider
  handle: ReturnType<Provider['callback']>
}

/**
 * Returns the provider, made at the first request because its library needs much memory. It cannot
 * change its keys, so another one is made when they have changed; everything else is in the database.
 */
export function currentProvider(core: Needs, created: (provider: Provider) => void) {
  let current: (Current & { keyIds: string; readAt: number }) | undefined
  let reading: Promise<Current> | undefined

  async function read(): Promise<Current> {
    const readAt = core.now().getTime()
    const keys = await signingKeys(core)
    const keyIds = keys.map(({ kid }) => kid).join(' ')
    if (current?.keyIds === keyIds) {
      current.readAt = readAt
      return current
    }
    const { createProvider } = await import('./provider.ts')
    const provider = createProvider(core, keys)
    created(provider)
    current = { provider, handle: provider.callback(), keyIds, readAt }
    return current
  }

  return async (): Promise<Current> => {
    if (current && core.now().getTime() - current.readAt < MINUTE_MS) return current
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
}
