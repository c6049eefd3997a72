// Several lambdas as one, for std::visit. Nothing of what is visited.
#pragma once

namespace kubewatch::runtime {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace kubewatch::runtime
