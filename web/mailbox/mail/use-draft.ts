import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../../api/client.ts'
import { useAction } from '../../lib/query.ts'
import { parseAddresses } from './addresses.ts'
import { destroy } from './change-mail.ts'
import { type Attached, type Draft, merged } from './draft-email.ts'
import { markAnswered, sendDraft, storeDraft } from './drafts.ts'
import type { Start } from './start-draft.ts'

const PAUSE_MS = 2000

/** The fields as they are typed. */
export interface Typed {
  identityId: string
  to: string
  cc: string
  bcc: string
  subject: string
  text: string
  attachments: Attached[]
}

/**
 * The text is stored after each pause in writing. Storing runs once at a time; later changes are
 * stored afterwards. `onStored` gets the id of the draft, so that a reload continues it.
 */
export function useDraft(start: Start, first: Typed, onStored: (id: string) => void) {
  const [typed, setTyped] = useState(first)
  const [state, setState] = useState<'new' | 'changed' | 'saving' | 'saved' | 'failed'>('new')
  const [error, setError] = useState<ApiError>()
  const latest = useRef({ typed, id: start.draftId, isDirty: false, isOver: false, hasLeft: false })
  const storing = useRef<Promise<void>>(undefined)
  const attempts = useRef(0)

  const change = (changes: Partial<Typed>) => {
    const now = { ...latest.current.typed, ...changes }
    latest.current = { ...latest.current, typed: now, isDirty: true }
    setTyped(now)
    setState('changed')
  }

  const changeFiles = (edit: (now: Attached[]) => Attached[]) =>
    change({ attachments: edit(latest.current.typed.attachments) })

  async function store(): Promise<void> {
    while (storing.current) await storing.current
    if (!latest.current.isDirty || latest.current.isOver) return
    storing.current = storeOnce().finally(() => {
      storing.current = undefined
    })
    await storing.current
  }

  async function storeOnce(): Promise<void> {
    const { typed: shown, id } = latest.current
    setState('saving')
    latest.current.isDirty = false
    try {
      const stored = await storeDraft(start.accountId, draftOf(start, shown), id)
      const attachments = merged(
        latest.current.typed.attachments,
        shown.attachments,
        stored.attachments,
      )
      latest.current = {
        ...latest.current,
        id: stored.id,
        typed: { ...latest.current.typed, attachments },
      }
      setTyped(latest.current.typed)
      setError(undefined)
      setState(latest.current.isDirty ? 'changed' : 'saved')
      if (!latest.current.isOver && !latest.current.hasLeft) onStored(stored.id)
    } catch (problem) {
      latest.current.isDirty = true
      setState('failed')
      setError(problem as ApiError)
      throw problem
    }
  }

  useEffect(() => {
    if (state !== 'changed') return
    const timer = setTimeout(() => store().catch(() => {}), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed, state])

  // Leaving the page stores what was typed since the last pause.
  useEffect(
    () => () => {
      latest.current.hasLeft = true
      void store().catch(() => {})
    },
    [],
  )
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (latest.current.isDirty && !latest.current.isOver) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [])

  const sending = useAction(async () => {
    // A draft that was never stored is stored now, also where nothing was typed into an answer.
    if (!latest.current.id) latest.current.isDirty = true
    await store()
    const { id, typed: sent } = latest.current
    if (!id) return
    const isRetry = attempts.current++ > 0
    await sendDraft(start.accountId, sent.identityId, id, isRetry)
    latest.current.isOver = true
    const { original } = start
    if (original) await markAnswered(original.accountId, original.id, original.kind).catch(() => {})
  })

  const discard = async () => {
    latest.current.isOver = true
    await storing.current?.catch(() => {})
    if (latest.current.id) await destroy(start.accountId, [latest.current.id])
  }

  return { typed, change, changeFiles, state, error, sending, discard }
}

function draftOf(start: Start, typed: Typed): Draft {
  const identity = start.identities.find(({ id }) => id === typed.identityId) ?? start.identity
  if (!identity) throw new Error('There is no address to send from')
  return {
    identity,
    to: parseAddresses(typed.to).addresses,
    cc: parseAddresses(typed.cc).addresses,
    bcc: parseAddresses(typed.bcc).addresses,
    subject: typed.subject,
    text: typed.text,
    attachments: typed.attachments,
    inReplyTo: start.inReplyTo,
    references: start.references,
  }
}
