// The stretch of a long list that is on the screen, and keeping it still while the heights of its rows become known.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Heights } from '../model/heights'

const overscan = 500 // pixels above and below

// A row that is to stay at the top or the bottom of the screen while the rows around it become known.
interface Target {
  index: number
  place: 'start' | 'end'
  until: number
}
const targetMs = 900

export interface Window {
  box: { current: HTMLDivElement | null }
  heights: Heights
  first: number
  last: number
  observe: (element: HTMLElement | null) => void // of a row with data-place
  setHeight: (index: number, height: number) => void // of a row that is known without being measured
  scrollTo: (index: number, place: 'start' | 'nearest') => void
}

// `estimate`: the height of a row that is not known yet.
export function useWindow(
  key: string,
  count: number,
  onSight: (first: number, last: number) => void,
  estimate = 96,
): Window {
  const box = useRef<HTMLDivElement>(null)
  const list = useRef({ key: '', heights: new Heights(0, estimate) })
  const shift = useRef(0) // what rows above the screen have grown by since the last painting
  const target = useRef<Target | null>(null)
  const isAtEnd = useRef(false) // as the last scrolling left it; a list that grows does not change that
  const [range, setRange] = useState({ first: 0, last: -1 })
  const [, repaint] = useState(0)

  if (list.current.key !== key) list.current = { key, heights: new Heights(count, estimate) }
  else if (list.current.heights.count !== count) list.current.heights.resize(count)
  const { heights } = list.current

  const look = () => {
    const element = box.current
    if (!element) return
    const first = heights.find(element.scrollTop - overscan)
    const last = count ? heights.find(element.scrollTop + element.clientHeight + overscan) : -1
    setRange(old => (old.first === first && old.last === last ? old : { first, last }))
  }
  const latest = useRef(look)
  latest.current = look

  const setHeight = (index: number, height: number) => {
    const top = heights.offset(index)
    const grown = heights.set(index, height)
    if (grown && top < (box.current?.scrollTop ?? 0)) shift.current += grown
  }

  const topFor = (element: HTMLElement, { index, place }: Pick<Target, 'index' | 'place'>) =>
    place === 'start' ? heights.offset(index) : heights.offset(index + 1) - element.clientHeight

  const settle = () => {
    const element = box.current
    if (!element) return
    const moved = shift.current
    shift.current = 0
    if (target.current && performance.now() < target.current.until)
      element.scrollTop = topFor(element, target.current)
    else if (moved) element.scrollTop += moved
  }

  const hold = (index: number, place: Target['place']) => {
    target.current = { index, place, until: performance.now() + targetMs }
    settle()
  }

  const measured = useRef<(entries: ResizeObserverEntry[]) => void>(() => {})
  measured.current = entries => {
    let changed = false
    for (const entry of entries) {
      const index = Number((entry.target as HTMLElement).dataset.place)
      const height = entry.borderBoxSize[0]?.blockSize ?? 0
      if (!entry.target.isConnected || heights.get(index) === Math.fround(height)) continue
      setHeight(index, height)
      changed = true
    }
    if (changed) repaint(n => n + 1)
  }
  const observer = useRef<ResizeObserver | null>(null)
  observer.current ??= new ResizeObserver(entries => measured.current(entries))

  useLayoutEffect(() => {
    if (isAtEnd.current) hold(count - 1, 'end') // what is new stays in sight
  }, [count])
  useLayoutEffect(() => {
    settle()
    latest.current()
  })
  useEffect(() => {
    const element = box.current
    if (!element) return
    let frame = 0
    const onScroll = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0
        isAtEnd.current =
          element.scrollTop > 0 &&
          element.scrollTop + element.clientHeight >= element.scrollHeight - 4
        latest.current()
      })
    }
    const release = () => (target.current = null)
    const size = new ResizeObserver(onScroll)
    size.observe(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    element.addEventListener('wheel', release, { passive: true })
    element.addEventListener('pointerdown', release, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      size.disconnect()
      element.removeEventListener('scroll', onScroll)
      element.removeEventListener('wheel', release)
      element.removeEventListener('pointerdown', release)
    }
  }, [])
  useEffect(() => {
    if (range.last >= range.first) onSight(range.first, range.last)
  }, [range.first, range.last, key, count])

  const scrollTo = (index: number, place: 'start' | 'nearest') => {
    const element = box.current
    if (!element) return
    const [top, bottom] = [heights.offset(index), heights.offset(index + 1)]
    if (place === 'start' || top < element.scrollTop || bottom - top > element.clientHeight)
      hold(index, 'start')
    else if (bottom > element.scrollTop + element.clientHeight) hold(index, 'end')
    latest.current()
  }

  const observe = (element: HTMLElement | null) => {
    if (element) observer.current?.observe(element)
  }
  return {
    box,
    heights,
    first: range.first,
    last: Math.min(range.last, count - 1),
    observe,
    setHeight,
    scrollTo,
  }
}
