const en = {
  title: 'Dead letters',
  none: 'No dead letters',
  noneHint: 'Events that failed eight times are kept here and can be sent again.',
  error: 'Last error',
  anyStatus: 'Any status',
  statuses: {
    pending: 'Given up',
    retrying: 'Being sent again',
    resolved: 'Delivered later',
    abandoned: 'Failed again',
  },
  replay: 'Send again',
  replayed: 'The event is being sent again',
  payload: 'Payload',
  payloadHint: 'What was sent, without the signature.',
  noPayload: 'The payload is no longer stored.',
}

const de: typeof en = {
  title: 'Unzustellbar',
  none: 'Nichts Unzustellbares',
  noneHint: 'Was achtmal scheiterte, bleibt hier und kann erneut gesendet werden.',
  error: 'Letzter Fehler',
  anyStatus: 'Jeder Status',
  statuses: {
    pending: 'Aufgegeben',
    retrying: 'Wird erneut gesendet',
    resolved: 'Später zugestellt',
    abandoned: 'Erneut fehlgeschlagen',
  },
  replay: 'Erneut senden',
  replayed: 'Das Ereignis wird erneut gesendet',
  payload: 'Inhalt',
  payloadHint: 'Was gesendet wurde, ohne die Signatur.',
  noPayload: 'Der Inhalt ist nicht mehr gespeichert.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
