import { slots } from '../lib/slots.ts'
import type { Client } from './client.ts'
import { NoAnswer } from './outage.ts'

// A connection is renewed after this time, so that it does not stay for ever with the server that a
// proxy chose for it.
const LIFETIME_MS = 45 * 60_000

interface Waiting {
  owner: string | undefined
  take(client: Client | Promise<Client>): void
  fail(error: unknown): void
}

/**
 * Connections that are lent to one statement or one transaction at a time. A lost connection is
 * replaced when it is needed; nothing waits longer than `waitMs` for a free one. An owner has at most
 * `perOwner` at a time, and its further requests let those of others pass.
 */
export class Clients {
  readonly #open: () => Promise<Client>
  readonly #size: number
  readonly #waitMs: number
  readonly #clients = new Set<Client>()
  readonly #idle: Client[] = []
  readonly #waiting = new Set<Waiting>()
  readonly #shares: ReturnType<typeof slots>
  /** Connections that are lent, with the function that gives the share of the owner back. */
  readonly #lent = new Map<Client, () => void>()
  #opening = 0
  #closed = false

  constructor(open: () => Promise<Client>, size: number, waitMs: number, perOwner = size) {
    this.#shares = slots(perOwner)
    this.#open = open
    this.#size = size
    this.#waitMs = waitMs
  }

  async borrow(owner?: string): Promise<Client> {
    if (this.#closed) throw new NoAnswer('the connections to the database are closed')
    const release = this.#shareOf(owner)
    const client = release && this.#free()
    if (client) return this.#lend(client, release)
    release?.()
    return this.#wait(owner)
  }

  giveBack(client: Client): void {
    if (!client.isLost && performance.now() - client.openedAt > LIFETIME_MS) client.discard()
    this.#lent.get(client)?.()
    this.#lent.delete(client)
    if (client.isLost) this.#clients.delete(client)
    for (const next of this.#waiting) {
      const release = this.#shareOf(next.owner)
      if (!release) continue
      next.take(this.#lend(client.isLost ? this.#add() : client, release))
      return
    }
    if (!client.isLost) this.#idle.push(client)
  }

  /** Closes idle connections, after another one to the same server was silent. */
  discardIdle(): void {
    for (const idle of this.#idle.splice(0)) {
      idle.discard()
      this.#clients.delete(idle)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#clients].map((client) => client.close()))
  }

  #shareOf(owner: string | undefined): (() => void) | undefined {
    return owner === undefined ? () => {} : this.#shares.take(owner)
  }

  #free(): Client | Promise<Client> | undefined {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (!idle.isLost) return idle
      this.#clients.delete(idle)
    }
    return this.#clients.size + this.#opening < this.#size ? this.#add() : undefined
  }

  async #lend(client: Client | Promise<Client>, release: () => void): Promise<Client> {
    try {
      const lent = await client
      this.#lent.set(lent, release)
      return lent
    } catch (error) {
      release()
      throw error
    }
  }

  async #add(): Promise<Client> {
    this.#opening++
    try {
      const client = await this.#open()
      this.#clients.add(client)
      if (this.#closed) client.discard()
      return client
    } catch (error) {
      // The others wait for connections that are in use, if there are any.
      if (this.#clients.size === 0) for (const { fail } of this.#waiting) fail(error)
      throw error
    } finally {
      this.#opening--
    }
  }

  #wait(owner: string | undefined): Promise<Client> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
        settle()
      }
      const waiting: Waiting = {
        owner,
        take: (client) => end(() => resolve(client)),
        fail: (error) => end(() => reject(error)),
      }
      const late = () => waiting.fail(new NoAnswer('no connection to the database became free'))
      const timer = setTimeout(late, this.#waitMs)
      this.#waiting.add(waiting)
    })
  }
}
