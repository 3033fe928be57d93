/** Routing hints that travel beside a review's events (`EventMeta.labels`), for consumers that must not load the stream. */
export function labelsOf(review: { template: { slug: string }; priority: string }): { template_slug: string; priority: string } {
  return { template_slug: review.template.slug, priority: review.priority };
}
