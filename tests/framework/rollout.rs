//! Gradients of whole rollouts.
