module TestPackage

using Test: @test, @testset
using WEANJ: WEANJ

documented(mod, name) = haskey(Base.Docs.meta(mod), Base.Docs.Binding(mod, name))

@testset "every exported name of $mod has a docstring" for mod in (WEANJ, WEANJ.GaussSeidel)
    exported = filter(!=(nameof(mod)), names(mod))
    @test length(exported) >= 5
    @test filter(name -> !documented(mod, name), exported) == []
    @test !documented(mod, :no_such_name)
end

# Enzyme exports a `gradient`; a second one would make both unusable without a prefix.
@testset "no exported name is Enzyme's too" begin
    @test intersect(names(WEANJ), names(WEANJ.Enzyme)) == []
    @test :gradient in names(WEANJ.Enzyme)
end

end
